//! The cutter against hand-made documents, and against serde_json on random ones.

use std::io::Cursor;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;

const SHAPE: DocumentShape = DocumentShape { arrays: &["long", "other"], closing: &["info"] };

fn cut(text: &[u8]) -> (Vec<(u64, String)>, Option<DocumentFault>) {
    let mut records = Vec::new();
    let end = read_document(&mut Cursor::new(text), &SHAPE, &mut |number, bytes| {
        records.push((number, String::from_utf8_lossy(bytes).into_owned()));
        Ok::<(), io::Error>(())
    })
    .unwrap();
    assert_eq!(end.records, records.len() as u64);
    (records, end.fault)
}

fn owned(records: &[(u64, &str)]) -> Vec<(u64, String)> {
    records.iter().map(|(number, text)| (*number, (*text).to_owned())).collect()
}

#[test]
fn header_elements_and_closing_values_in_order() {
    let text = b"\xEF\xBB\xBF\r\n{ \"other\": [ 1 ,\n\"]\\\"[\" ], \"a\": {\"long\": [7]},\r\n \"info\" : {\"x\": 1}, \"long\": [ {\"b\": [2]} ] }\n";
    let (records, fault) = cut(text);
    assert_eq!(
        records,
        owned(&[
            (1, r#"{"a":{"long": [7]},"info":{"x": 1}}"#),
            (2, r#"{"long":{"b": [2]}}"#),
            (3, r#"{"other":1}"#),
            (6, r#"{"other":"]\"["}"#),
            (4, r#"{"info":{"x": 1}}"#),
        ])
    );
    assert_eq!(fault, None);
    assert_eq!((index_of(&SHAPE, 3), index_of(&SHAPE, 6)), (0, 1));
}

#[test]
fn a_record_keeps_its_number_while_the_document_grows() {
    let (before, _) = cut(br#"{"long":[1],"other":[7],"info":0}"#);
    let (after, _) = cut(br#"{"long":[1,2,3],"other":[7,8],"info":0}"#);
    assert!(before.iter().all(|record| after.contains(record)), "{before:?} {after:?}");
    let mut numbers: Vec<u64> = after.iter().map(|(number, _)| *number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), after.len());
}

#[test]
fn a_bare_array_has_no_header() {
    let (records, fault) = cut(b"[{\"a\":1}, 2]");
    assert_eq!(records, owned(&[(2, r#"{"":{"a":1}}"#), (5, r#"{"":2}"#)]));
    assert_eq!(fault, None);
}

/// A document, the records that it gives, and what is wrong with it.
type Case = (&'static str, &'static [(u64, &'static str)], DocumentFault);

#[test]
fn damage_is_named_and_the_whole_part_is_read() {
    let torn = |offset, inside: &str| DocumentFault::Torn { offset, inside: inside.to_owned() };
    let cases: &[Case] = &[
        ("", &[], torn(0, "nothing: it is empty")),
        ("7", &[], DocumentFault::Malformed { offset: 0, expected: "an object or an array" }),
        (r#"{"a":1,"lo"#, &[(1, r#"{"a":1}"#)], torn(7, "a value")),
        (r#"{"a":1,"b":tr"#, &[(1, r#"{"a":1}"#)], torn(11, "a value")),
        (
            r#"{"long":[1,{"b":"#,
            &[(1, "{}"), (2, r#"{"long":1}"#)],
            torn(11, "element 1 of the array `long`"),
        ),
        (r#"{"long":[1"#, &[(1, "{}")], torn(9, "element 0 of the array `long`")),
        (r#"{"long":[[1]"#, &[(1, "{}"), (2, r#"{"long":[1]}"#)], torn(12, "the array `long`")),
        (r#"{"long":[1]"#, &[(1, "{}"), (2, r#"{"long":1}"#)], torn(11, "the object")),
        (r#"{"a":1}{"b":2}"#, &[(1, r#"{"a":1}"#)], DocumentFault::Trailing { offset: 7 }),
        (r#"{"a" 1}"#, &[(1, "{}")], DocumentFault::Malformed { offset: 5, expected: "a colon" }),
        (
            r#"{"long":[1 2],"other":[3]}"#,
            &[(1, "{}"), (2, r#"{"long":1}"#), (3, r#"{"other":3}"#)],
            DocumentFault::Malformed { offset: 11, expected: "a comma or a closing bracket" },
        ),
    ];
    for (text, records, fault) in cases {
        assert_eq!(cut(text.as_bytes()), (owned(records), Some(fault.clone())), "{text}");
    }
}

#[test]
fn a_failing_taker_stops_the_reading() {
    let mut calls = 0;
    let result = read_document(&mut Cursor::new(b"[1,2,3]"), &SHAPE, &mut |number, _| {
        calls += 1;
        if number == 5 { Err(io::Error::other("full")) } else { Ok(()) }
    });
    assert_eq!((calls, result.unwrap_err().to_string()), (2, "full".to_owned()));
}

/// Gives one to three bytes a read, so that every state of the scan meets a buffer's end.
struct Trickle(Cursor<Vec<u8>>, usize);

impl Read for Trickle {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.1 += 1;
        let len = out.len().min(1 + self.1 % 3);
        self.0.read(&mut out[..len])
    }
}

impl Seek for Trickle {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[\\PC\"\\\\\\[\\]{}:,\n]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-c\"\\\\]{0,3}", inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn documents() -> impl Strategy<Value = Value> {
    let key = prop_oneof![Just("long"), Just("other"), Just("info"), Just("a"), Just("b\"\\")];
    let object = prop::collection::vec((key.prop_map(str::to_owned), values()), 0..6)
        .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>()));
    prop_oneof![4 => object, 1 => prop::collection::vec(values(), 0..5).prop_map(Value::from)]
}

/// Cuts the parsed document the plain way.
fn expected(document: &Value) -> Vec<Value> {
    let Value::Object(members) = document else {
        return document.as_array().unwrap().iter().map(|element| json!({"": element})).collect();
    };
    let is_long = |key: &str, value: &Value| SHAPE.arrays.contains(&key) && value.is_array();
    let header: Map<_, _> = members.clone().into_iter().filter(|(key, value)| !is_long(key, value)).collect();
    let mut records = vec![Value::Object(header.clone())];
    for key in SHAPE.arrays {
        for element in members.get(*key).and_then(Value::as_array).into_iter().flatten() {
            records.push(json!({ *key: element }));
        }
    }
    records.extend(header.get("info").map(|info| json!({ "info": info })));
    records
}

proptest! {
    #[test]
    fn agrees_with_a_whole_parse(document in documents(), pretty: bool) {
        let text = if pretty { serde_json::to_string_pretty(&document) } else { serde_json::to_string(&document) };
        let mut file = Trickle(Cursor::new(text.unwrap().into_bytes()), 0);
        let mut records: Vec<Value> = Vec::new();
        let end = read_document(&mut file, &SHAPE, &mut |_, bytes| {
            records.push(serde_json::from_slice(bytes).unwrap());
            Ok::<(), io::Error>(())
        })
        .unwrap();
        prop_assert_eq!(end.fault, None);
        prop_assert_eq!(records, expected(&document));
    }

    #[test]
    fn a_torn_document_gives_a_beginning_of_the_whole_one(document in documents(), at in 0.0..1.0) {
        let text = serde_json::to_string(&document).unwrap();
        let cut_at = (text.len() as f64 * at) as usize;
        let (whole, _) = cut(text.as_bytes());
        let (torn, fault) = cut(&text.as_bytes()[..cut_at]);
        prop_assert!(fault.is_some());
        // The header lacks what did not come and the closing values may be missing; elements are all from the whole.
        for record in torn.iter().filter(|(number, _)| *number != HEADER) {
            prop_assert!(whole.contains(record), "{:?} is not in {}", record, text);
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(prop_oneof![Just(b'{'), Just(b'['), Just(b'"'), Just(b'}'), Just(b']'), Just(b','), Just(b':'), Just(b'\\'), any::<u8>()], 0..40)) {
        cut(&bytes);
        DocumentHead::read(&bytes, &SHAPE);
    }
}
