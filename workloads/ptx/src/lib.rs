//! PTX front end: lexer, parser, lowering, control-flow graph.
