//! A hash of everything that takes part in executing kernels, so that a stored trace is never used by other code than that which left it.

use std::fs;
use std::path::{Path, PathBuf};

/// Execution is done here.
const ROOMS: [&str; 5] = ["ptx", "simt", "gcn", "sass", "suite"];

fn main() {
    let workspace = Path::new("../..");
    let mut hash = Fnv::default();
    for room in ROOMS {
        let room = workspace.join("workloads").join(room);
        for path in [room.join("Cargo.toml"), room.join("src")] {
            println!("cargo::rerun-if-changed={}", path.display());
            hash.path(&path);
        }
    }
    // Libraries take part too: transcendental functions come from one.
    let lock = workspace.join("Cargo.lock");
    println!("cargo::rerun-if-changed={}", lock.display());
    hash.path(&lock);
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=WARPWATT_EXECUTION={:032x}", hash.0);
}

/// FNV-1a of 128 bits: nobody attacks it, and a build script had better need no library.
/// (G. Fowler, L. C. Noll, K.-P. Vo, D. Eastlake, RFC 9923.)
struct Fnv(u128);

impl Default for Fnv {
    fn default() -> Self {
        Fnv(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Fnv {
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

    fn bytes(&mut self, bytes: &[u8]) {
        for part in [&(bytes.len() as u64).to_le_bytes(), bytes] {
            for byte in part {
                self.0 = (self.0 ^ u128::from(*byte)).wrapping_mul(Self::PRIME);
            }
        }
    }

    /// A file, or a folder with all that is in it.
    fn path(&mut self, path: &Path) {
        let name = path.file_name().unwrap_or_default();
        self.bytes(name.to_string_lossy().as_bytes());
        if path.is_dir() {
            let entries = fs::read_dir(path).into_iter().flatten().flatten();
            let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
            paths.sort();
            paths.iter().for_each(|path| self.path(path));
        } else {
            self.bytes(&fs::read(path).unwrap_or_default());
        }
    }
}
