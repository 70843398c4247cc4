//! What the label of techniques says: `filter_cache(entries=16) + uniform_vector`, and behind them what the study's own structures are where it sweeps them:
//! `filter_cache(entries=16) + structure.table(words=64)`.

use warpwatt_techniques::{Stack, find};

/// Before the name of a structure of a study's own.
pub const STRUCTURE: &str = "structure.";

/// The labels of the techniques that work together.
pub fn members(label: &str) -> impl Iterator<Item = &str> {
    let members = label.split(Stack::JOIN);
    members.filter(|member| !member.starts_with(STRUCTURE))
}

/// The labels of the study's own structures that are swept.
pub fn structures(label: &str) -> impl Iterator<Item = &str> {
    let members = label.split(Stack::JOIN);
    members.filter(|member| member.starts_with(STRUCTURE))
}

/// The names of the techniques that work together.
pub fn techniques(label: &str) -> impl Iterator<Item = &str> {
    members(label).map(|member| member.split('(').next().unwrap_or(member).trim())
}

/// The parameters that a label names, `filter_cache.entries` with its value; `None` for a text of another form.
pub fn parameters(label: &str) -> Option<Vec<(String, String)>> {
    let mut all = Vec::new();
    for member in label.split(Stack::JOIN) {
        let (name, parameters) = taken_apart(member)?;
        let own = parameters.into_iter();
        all.extend(own.map(|(key, value)| (format!("{name}.{key}"), value.to_owned())));
    }
    Some(all)
}

/// What decides what is counted: a label without the parameters that only prices hang on.
pub fn counted(label: &str) -> String {
    let members = label.split(Stack::JOIN);
    let members = members.map(|member| counted_of(member).unwrap_or_else(|| member.to_owned()));
    let members: Vec<String> = members.collect();
    members.join(Stack::JOIN)
}

fn counted_of(member: &str) -> Option<String> {
    let (name, parameters) = taken_apart(member)?;
    let declared = find(name).ok()?.parameters;
    let priced = |key: &str| declared.iter().any(|it| it.name == key && it.priced_only);
    let left = parameters.iter().filter(|(key, _)| !priced(key));
    let left: Vec<String> = left.map(|(key, value)| format!("{key}={value}")).collect();
    Some(match left[..] {
        [] => name.to_owned(),
        _ => format!("{name}({})", left.join(", ")),
    })
}

/// The name of a technique and what its label says of its parameters; `None` for a text of another form.
fn taken_apart(member: &str) -> Option<(&str, Vec<(&str, &str)>)> {
    let Some((name, rest)) = member.split_once('(') else {
        return Some((member, Vec::new()));
    };
    let inside = rest.strip_suffix(')')?;
    // A comma within brackets belongs to a value.
    let mut depth = 0_i32;
    let parts = inside.split(|c: char| {
        depth += i32::from(matches!(c, '[' | '(')) - i32::from(matches!(c, ']' | ')'));
        c == ',' && depth == 0
    });
    let parameters = parts.map(|part| {
        let (key, value) = part.split_once('=')?;
        Some((key.trim(), value.trim()))
    });
    Some((name, parameters.collect::<Option<_>>()?))
}

/// A label that has been read: what it names stands ready.
pub struct Label<'l> {
    text: &'l str,
    /// The names of its techniques.
    named: Vec<&'l str>,
    /// Techniques and structures with the keys and values that the label says of them.
    said: Vec<(&'l str, Vec<(&'l str, &'l str)>)>,
}

/// A parameter that labels are asked for: `filter_cache.entries`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    name: String,
    /// Its technique and its default, if a technique declares it.
    declared: Option<(String, String)>,
}

impl Parameter {
    /// The one of this name.
    pub fn named(name: &str) -> Self {
        let declared = name.split_once('.').and_then(|(technique, key)| {
            let mut declared = find(technique).ok()?.parameters.iter();
            let declared = declared.find(|declared| declared.name == key)?;
            Some((technique.to_owned(), bare(&declared.default()).to_owned()))
        });
        Self {
            name: name.to_owned(),
            declared,
        }
    }
}

fn bare(text: &str) -> &str {
    text.trim_matches('"')
}

impl<'l> Label<'l> {
    /// Reads `text`. A text of another form names no parameters.
    pub fn of(text: &'l str) -> Self {
        let members = text.split(Stack::JOIN).map(taken_apart);
        Self {
            text,
            named: techniques(text).collect(),
            said: members.collect::<Option<_>>().unwrap_or_default(),
        }
    }

    /// The value of a parameter: what the label says, else the default; `None` if no technique of the label has it.
    pub fn value<'p>(&self, parameter: &'p Parameter) -> Option<&'p str>
    where
        'l: 'p,
    {
        let mut said = self.said.iter();
        let said = said.find_map(|(name, parameters)| {
            let key = parameter.name.strip_prefix(name)?.strip_prefix('.')?;
            let mut parameters = parameters.iter();
            Some(parameters.find(|(known, _)| *known == key)?.1)
        });
        said.map(bare).or_else(|| {
            let (technique, default) = parameter.declared.as_ref()?;
            let has = self.named.contains(&technique.as_str());
            has.then_some(default.as_str())
        })
    }
}

/// Whether two texts are alike but for spaces and case.
pub fn alike(one: &str, other: &str) -> bool {
    let plain = |text: &str| -> String {
        let kept = text.chars().filter(|c| !c.is_whitespace());
        kept.flat_map(char::to_lowercase).collect()
    };
    one == other || plain(one) == plain(other)
}

/// Whether `wanted` means what `label` names: the same techniques, and the same values of the parameters that it names. Spaces and case do not matter.
pub fn fits(label: &str, wanted: &str) -> bool {
    if alike(label, wanted) {
        return true;
    }
    let (label, wanted) = (Label::of(label), wanted.trim());
    let same = |(name, wanted): &(String, String)| {
        let parameter = Parameter::named(name);
        let value = label.value(&parameter);
        value.is_some_and(|value| alike(value, wanted.trim_matches('"')))
    };
    techniques(label.text).eq(techniques(wanted))
        && parameters(wanted).is_some_and(|named| named.iter().all(same))
}

/// Whether two labels name one configuration: the same techniques, and each parameter with the same value, said or by default.
pub fn same(one: &str, other: &str) -> bool {
    one == other || fits(one, other) && fits(other, one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_may_be_lists() {
        let found = parameters("a(windows=[1, 2], size=3) + b").unwrap();
        let found: Vec<(&str, &str)> = found
            .iter()
            .map(|(k, v)| (k.as_str(), v.as_str()))
            .collect();
        assert_eq!(found, [("a.windows", "[1, 2]"), ("a.size", "3")]);
    }

    #[test]
    fn structures_that_are_swept_stand_behind_the_techniques() {
        let label = "filter_cache(entries=32) + structure.reuse.table(words=64, ports=1r1w)";
        assert!(techniques(label).eq(["filter_cache"]));
        assert!(members(label).eq(["filter_cache(entries=32)"]));
        assert_eq!(structures(label).count(), 1);
        let value = |name| {
            let parameter = Parameter::named(name);
            Label::of(label).value(&parameter).map(str::to_owned)
        };
        assert_eq!(value("structure.reuse.table.words").as_deref(), Some("64"));
        assert_eq!(value("structure.reuse.table.bits"), None);
        // A technique's name means it with any structures; two sizes are not one configuration.
        assert!(fits(label, "filter_cache"));
        assert!(fits(
            label,
            "filter_cache + structure.reuse.table(words=64)"
        ));
        assert!(!fits(
            label,
            "filter_cache + structure.reuse.table(words=32)"
        ));
        assert!(!same(label, "filter_cache"));
    }

    #[test]
    fn a_default_need_not_be_said() {
        let label = "filter_cache(entries=32) + uniform_vector(mode=intra)";
        assert!(fits(label, "filter_cache + uniform_vector"));
        assert!(fits("filter_cache", "filter_cache( entries = 32 )"));
        assert!(fits(label, "filter_cache + uniform_vector(mode=intra)"));
        assert!(!fits(label, "filter_cache(entries=16) + uniform_vector"));
        assert!(!fits(label, "filter_cache"));
        assert!(same("filter_cache", "filter_cache(entries=32)"));
        assert!(!same("filter_cache", "filter_cache(entries=16)"));
        assert!(!fits(label, "filter_cache(no_such=1) + uniform_vector"));
    }

    #[test]
    fn the_same_configuration_has_the_same_value_of_every_parameter() {
        assert!(same("filter_cache", "filter_cache(entries=32)"));
        assert!(!same("filter_cache(entries=16)", "filter_cache"));
        assert!(!same("filter_cache", "filter_cache(entries=16)"));
    }

    #[test]
    fn what_a_label_leaves_out_has_its_default() {
        let label = Label::of("filter_cache + uniform_vector(mode=intra)");
        let of = |name| label.value(&Parameter::named(name)).map(str::to_owned);
        assert_eq!(of("filter_cache.entries").as_deref(), Some("32"));
        assert_eq!(of("uniform_vector.mode").as_deref(), Some("intra"));
        assert_eq!(of("uniform_vector.no_such"), None);
        assert_eq!(of("warped_dmr.entries"), None);
    }
}
