//! The name that was probably meant.

/// Bytes of a name beyond which it is no slip of any.
const MOST_NAME: usize = 200;

/// Candidates that are compared with a name: more than there are names of any kind, but for those that a study itself makes.
const MOST_CANDIDATES: usize = 1_000;

/// The candidate nearest to `name` by edit distance, if any is near enough to be a slip rather than another word: at most a third of
/// the longer name's characters differ. The first of equals wins.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > MOST_NAME {
        return None;
    }
    let plain = |text: &str| text.to_lowercase().replace(['-', ' '], "_");
    let wanted = plain(name);
    let mut best: Option<(usize, &str)> = None;
    let length = wanted.chars().count();
    for candidate in candidates.into_iter().take(MOST_CANDIDATES) {
        let other = candidate.chars().count();
        let allowed = length.max(other).div_ceil(3);
        // So many characters differ at least.
        if length.abs_diff(other) > allowed {
            continue;
        }
        let distance = strsim::damerau_levenshtein(&wanted, &plain(candidate));
        if distance <= allowed
            && distance < length
            && best.is_none_or(|(least, _)| distance < least)
        {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// A remedy for an unknown name: the nearest one, or else all there are.
pub fn did_you_mean<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    match nearest(name, candidates.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if candidates.is_empty() => "there is none to choose from".to_owned(),
        None => {
            let names: Vec<String> = candidates
                .iter()
                .map(|candidate| format!("`{candidate}`"))
                .collect();
            format!("choose one of {}", names.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_other_words_are_not() {
        let kernels = ["vector_add", "hotspot", "bfs"];
        assert_eq!(nearest("hotspt", kernels), Some("hotspot"));
        assert_eq!(nearest("Vector-Add", kernels), Some("vector_add"));
        assert_eq!(nearest("tomato", kernels), None);
        assert_eq!(nearest("x", kernels), None);
        assert_eq!(
            nearest("x", ["a"]),
            None,
            "one letter is no slip of another"
        );
    }

    #[test]
    fn a_remedy_names_the_choices_when_none_is_near() {
        assert_eq!(
            did_you_mean("hotspt", ["hotspot", "bfs"]),
            "did you mean `hotspot`?"
        );
        assert_eq!(
            did_you_mean("tomato", ["hotspot", "bfs"]),
            "choose one of `hotspot`, `bfs`"
        );
    }
}
