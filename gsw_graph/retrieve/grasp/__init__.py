"""GRASP (Jenkins 2026): a planner, sub-agents that search facts and follow names, and an answer from what
they found. docs/grasp.md."""
