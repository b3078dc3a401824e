"""A memory served to others: HTTP, the Model Context Protocol, and the command line of the same machine. On
`Memory` alone; nothing here is imported by any other package."""
