"""PDF, HTML, Office and mail to text, in a child process."""
