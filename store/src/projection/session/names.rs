//! JSON lists of names, which hold each name once.

/// Adds a name to a JSON list of names, when it is not in it.
pub(super) fn add_name(list: &mut String, name: &str) {
    let quoted = serde_json::to_string(name).expect("a string is JSON");
    if holds(list, &quoted) {
        return;
    }
    list.pop();
    if list.len() > 1 {
        list.push(',');
    }
    list.push_str(&quoted);
    list.push(']');
}

/// Walks over the list's strings without unpacking them: it is asked for every call.
fn holds(list: &str, quoted: &str) -> bool {
    let mut rest = &list[1..];
    while rest.starts_with('"') {
        let len = quoted_len(rest);
        if &rest[..len] == quoted {
            return true;
        }
        rest = rest[len..].trim_start_matches(',');
    }
    false
}

/// Returns the length of the JSON string at the start of `text`, quotes included.
fn quoted_len(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_list_holds_each_name_once(names in prop::collection::vec("[a,\"\\\\]{0,3}", 0..12)) {
            let mut list = "[]".to_owned();
            let mut expected: Vec<String> = Vec::new();
            for name in names {
                add_name(&mut list, &name);
                if !expected.contains(&name) {
                    expected.push(name);
                }
            }
            prop_assert_eq!(serde_json::from_str::<Vec<String>>(&list).unwrap(), expected);
        }
    }
}
