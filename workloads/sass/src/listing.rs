//! `kernelslist.g`: what a program did, in order.

use crate::fault::{Fault, quoted};

/// The launches of a program, and what was copied to the GPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Files of the launches, relative to the list, in order; a file may come more than once.
    pub launches: Vec<String>,
    /// Bytes that were copied to the GPU. Nothing is made of them: contents of memory decide nothing here.
    pub copied_bytes: u64,
}

/// Whether a file is such a list, by its name: `kernelslist.g`, or of one context of several `kernelslist_ctx_0x....g`.
pub fn is_listing(name: &str) -> bool {
    name.starts_with("kernelslist") && name.ends_with(".g")
}

/// Reads a list of launches.
///
/// # Errors
/// Every line that is neither a copy nor a launch; a list without launches.
pub fn listing(text: &str) -> Result<Listing, Vec<Fault>> {
    let mut listing = Listing::default();
    let mut faults = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with("MemcpyDtoH") {
            continue;
        }
        if let Some(copy) = line.strip_prefix("MemcpyHtoD,") {
            match copy
                .rsplit(',')
                .next()
                .and_then(|bytes| bytes.parse::<u64>().ok())
            {
                Some(bytes) => listing.copied_bytes = listing.copied_bytes.saturating_add(bytes),
                None => faults.push(
                    Fault::new(format!("{} has no number of bytes", quoted(line))).at(number),
                ),
            }
        } else if line.starts_with("kernel") {
            listing.launches.push(line.to_owned());
        } else {
            let message = format!("{} is neither a copy nor a launch", quoted(line));
            faults.push(Fault::new(message).at(number));
        }
    }
    if faults.is_empty() && listing.launches.is_empty() {
        faults.push(Fault::new("it names no launch"));
    }
    if faults.is_empty() {
        Ok(listing)
    } else {
        Err(faults)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_and_launches() {
        let text = "MemcpyHtoD,0x00007efe7b500000,2052\nkernel-1.traceg\n\nMemcpyHtoD,0x7efe7b500a00,48\nkernel-2.traceg.xz\n";
        let listing = listing(text).unwrap();
        assert_eq!(listing.launches, ["kernel-1.traceg", "kernel-2.traceg.xz"]);
        assert_eq!(listing.copied_bytes, 2100);
    }

    #[test]
    fn every_line_that_is_neither_is_named() {
        let faults = listing("MemcpyHtoD,0x0,many\nkernel-1.traceg\nhello\n").unwrap_err();
        let lines: Vec<Option<u64>> = faults.iter().map(|fault| fault.line).collect();
        assert_eq!(lines, [Some(1), Some(3)]);
        assert_eq!(listing("").unwrap_err()[0].message, "it names no launch");
    }

    #[test]
    fn lists_by_their_names() {
        assert!(is_listing("kernelslist.g"));
        assert!(is_listing("kernelslist_ctx_0x55.g"));
        assert!(!is_listing("kernelslist"));
        assert!(!is_listing("kernel-1.traceg"));
    }
}
