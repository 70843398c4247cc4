//! Reading of `constants`: numbers by name for the expressions of a file or a case.

use super::fields::{Fields, unknown_name};
use crate::launch::form::Constants;
use crate::launch::repeat::is_name;
use crate::launch::{Problem, Variables};

/// Adds what a table's `constants` says; one may follow from those that stand before it.
pub(super) fn read(fields: &mut Fields<'_, '_>, constants: &mut Constants) {
    let Some((span, table)) = fields.table("constants") else {
        return;
    };
    let mut inner = Fields::new("`constants`", span, table, fields.problems());
    let mut keys: Vec<_> = table.keys().collect();
    keys.sort_by_key(|key| key.span().start);
    for key in keys {
        let name = key.get_ref().as_ref();
        if !is_name(name) {
            let problem = Problem::new(key.span(), format!("`{name}` cannot name a constant"));
            inner.problem(problem.help("letters, digits and underscores, a letter first"));
            continue;
        }
        let Some(form) = inner.form(name, constants) else {
            continue;
        };
        if let Some(stranger) = form.free().first() {
            let problem = unknown_name(stranger, constants.keys().map(String::as_str));
            let span = form.span();
            inner.problem(Problem { span, ..problem });
        } else if let Ok(number) = form.number(Variables::NONE) {
            constants.insert(name.to_owned(), number);
        }
    }
}
