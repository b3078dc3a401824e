// Which server this is. Runs once when a connection is opened.
CALL dbms.components() YIELD name, versions
RETURN name, versions
