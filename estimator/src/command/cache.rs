//! Where the command keeps traces between runs.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use warpwatt_simt::trace::DEFAULT_MEMORY;

use super::console::show;
use crate::array::parse_capacity;
use crate::cache::{DEFAULT_LIMIT, TraceCache};
use crate::diag::{Diag, Rejection, Sink};

/// Names the directory; empty: traces are not kept.
const DIRECTORY: &str = "WARPWATT_CACHE";
/// How much it may hold.
const LIMIT: &str = "WARPWATT_CACHE_LIMIT";

/// Options of the traces: in how much memory they are, and where they are kept between runs.
#[derive(Debug, Args)]
pub struct CacheArguments {
    /// Directory in which traces are kept between runs [default: $WARPWATT_CACHE, or else warpwatt/traces in the user's cache directory]
    #[arg(long, value_name = "DIR", conflicts_with = "no_cache")]
    pub cache: Option<PathBuf>,
    /// Execute every kernel, and keep no traces
    #[arg(long)]
    pub no_cache: bool,
    /// How much the directory may hold; what was used longest ago goes first [default: $WARPWATT_CACHE_LIMIT, or else 1GiB]
    #[arg(long, value_name = "SIZE")]
    pub cache_limit: Option<String>,
    /// Memory for the traces of a kernel, in MiB; what is more lies compressed in a file in $TMPDIR until the run ends. Results do not depend on it
    #[arg(long, value_name = "MIB", default_value_t = DEFAULT_MEMORY >> 20, value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub trace_memory: u64,
}

impl CacheArguments {
    /// Where traces are; `None` if what was said of it makes no sense, which is left in `sink`.
    pub fn open(&self, sink: &mut Sink) -> Option<TraceCache> {
        let limit = match (&self.cache_limit, env::var_os(LIMIT)) {
            (Some(text), _) => bytes("--cache-limit", text, sink)?,
            (None, Some(text)) => bytes(LIMIT, &text.to_string_lossy(), sink)?,
            (None, None) => DEFAULT_LIMIT,
        };
        let directory = match &self.cache {
            _ if self.no_cache => None,
            Some(directory) => Some(directory.clone()),
            None => default_directory(|name| env::var_os(name)),
        };
        let cache = directory.map_or_else(TraceCache::none, |directory| {
            TraceCache::new(directory, limit)
        });
        Some(cache.with_memory(self.memory()))
    }

    /// Bytes of memory for the traces of a kernel.
    pub fn memory(&self) -> u64 {
        self.trace_memory << 20
    }
}

fn bytes(what: &str, text: &str, sink: &mut Sink) -> Option<u64> {
    let bits = parse_capacity(text).map_err(|refusal| {
        let message = format!("{what}: {}", refusal.message);
        let help = "write it like `512MiB`; `--no-cache` keeps no traces";
        sink.push(Diag::error("cache::limit", message).help(help));
    });
    Some(bits.ok()? / 8)
}

/// As the XDG Base Directory Specification has it; on Windows the folder of local application data. Relative paths are ignored there, and here.
fn default_directory(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    if let Some(directory) = variable(DIRECTORY) {
        return Some(PathBuf::from(directory)).filter(|path| !path.as_os_str().is_empty());
    }
    let absolute = |name| {
        let path = PathBuf::from(variable(name)?);
        path.is_absolute().then_some(path)
    };
    let base = absolute("XDG_CACHE_HOME")
        .or_else(|| Some(absolute("HOME")?.join(".cache")))
        .or_else(|| absolute("LOCALAPPDATA"));
    Some(base?.join("warpwatt").join("traces"))
}

/// Says on standard error what was wrong with the cache.
pub fn show_notes(cache: &TraceCache) {
    for note in cache.notes() {
        let help = "results do not depend on the cache; `--no-cache` goes without one";
        let note = Diag::warning("cache::unusable", note).help(help);
        show(&Rejection::from(note).0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory(variables: &[(&str, &str)]) -> Option<PathBuf> {
        default_directory(|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn the_environment_says_where_traces_are_kept() {
        let home = ("HOME", "/home/me");
        assert_eq!(
            directory(&[home]),
            Some("/home/me/.cache/warpwatt/traces".into())
        );
        let xdg = ("XDG_CACHE_HOME", "/scratch");
        assert_eq!(
            directory(&[home, xdg]),
            Some("/scratch/warpwatt/traces".into())
        );
        let own = ("WARPWATT_CACHE", "mine");
        assert_eq!(directory(&[home, xdg, own]), Some("mine".into()));
        assert_eq!(directory(&[home, ("WARPWATT_CACHE", "")]), None);
        assert_eq!(directory(&[("HOME", "relative")]), None);
        assert_eq!(directory(&[]), None);
    }
}
