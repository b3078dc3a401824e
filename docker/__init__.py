"""The files of a private Neo4j: `compose.yml` for Docker, `maven/pom.xml` for Maven Central."""
