//! What a browser calls. A text goes in through [`input`] and comes out where [`open`] or [`price`] say, [`length`] bytes of it.

#![expect(
    unsafe_code,
    reason = "names of functions that are called from outside must be unique, which nothing checks"
)]

use std::cell::RefCell;

use super::Session;

thread_local! {
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static OUTPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static SESSION: RefCell<Option<Session>> = const { RefCell::new(None) };
}

/// Where a text of so many bytes is to be put.
#[unsafe(no_mangle)]
pub extern "C" fn input(bytes: usize) -> *mut u8 {
    INPUT.with_borrow_mut(|input| {
        input.clear();
        input.resize(bytes, 0);
        input.as_mut_ptr()
    })
}

/// Bytes of what came out last.
#[unsafe(no_mangle)]
pub extern "C" fn length() -> usize {
    OUTPUT.with_borrow(Vec::len)
}

/// Begins with the counts that were put in; what comes out is empty, or says what is wrong with them.
#[unsafe(no_mangle)]
pub extern "C" fn open() -> *const u8 {
    let opened = Session::open(&taken());
    put(match opened {
        Ok(session) => {
            SESSION.set(Some(session));
            String::new()
        }
        Err(problem) => problem,
    })
}

/// Prices the study that was put in; what comes out is the reply as JSON.
#[unsafe(no_mangle)]
pub extern "C" fn price() -> *const u8 {
    let text = taken();
    put(SESSION.with_borrow(|session| {
        let session = session.as_ref();
        session.map_or_else(String::new, |session| session.reply(&text).json())
    }))
}

fn taken() -> String {
    let bytes = INPUT.with_borrow_mut(std::mem::take);
    String::from_utf8(bytes).unwrap_or_default()
}

fn put(text: String) -> *const u8 {
    OUTPUT.with_borrow_mut(|output| {
        *output = text.into_bytes();
        output.as_ptr()
    })
}
