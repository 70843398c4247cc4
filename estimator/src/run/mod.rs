//! Running a study: every kernel executed once, every distinct configuration timed once, every node priced.

pub mod drive;
