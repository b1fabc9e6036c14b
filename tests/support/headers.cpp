// Nothing: what is precompiled beside it is all that it is for.
