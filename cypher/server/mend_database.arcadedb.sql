-- The engine's own repair: what cannot be read goes, relationships that one end lists are listed by both. Runs for `doctor --deep --mend` where the check finds damage.
CHECK DATABASE FIX
