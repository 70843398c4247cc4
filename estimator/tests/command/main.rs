//! The command as a user sees it: messages, exit codes, files.

mod array;
mod avf;
mod cache;
mod common;
mod cookbook;
mod editors;
mod errors;
mod explain;
mod faults;
mod goals;
mod inject;
mod kernel;
mod operating;
mod page;
mod parts;
mod ptx;
mod reproduce;
mod robust;
mod run;
mod search;
mod sweep;
mod tech;
mod timeline;
mod trace;
mod what_if;
