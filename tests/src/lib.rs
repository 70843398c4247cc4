//! Laws, paper tables, oracle comparisons and command-line behaviour across the rooms.
