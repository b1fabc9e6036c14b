// Empty: it exists to own the precompiled header.
