#![no_main]

use libfuzzer_sys::fuzz_target;
use warpwatt::expression::Expression;

// Reading an expression, and its value where every name is one.
fuzz_target!(|text: &str| {
    if let Ok(expression) = Expression::parse(text) {
        let _ = expression.names();
        let _ = expression.count(&|_| 1.0);
    }
});
