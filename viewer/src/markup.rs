//! Turns hostile text into markup: the only place that does, and only by escaping.
//!
//! What a reader cannot see is made visible (control characters, bidirectional overrides, characters of no
//! width), and of the escapes of terminals only colours are obeyed.

use std::fmt::{self, Write};
use std::iter::Peekable;
use std::str::Chars;

/// Text that is markup already: every character of the source in it has been escaped here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Markup(String);

impl fmt::Display for Markup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The text was escaped by [`Markup::text`], which alone makes the type.
impl askama::filters::HtmlSafe for Markup {}

/// Elements in one text.
const MAX_ELEMENTS: usize = 120;

impl Markup {
    /// Returns the text, line breaks kept, as the content of an element that keeps them.
    pub(crate) fn text(source: &str) -> Self {
        Self::bounded(source, MAX_ELEMENTS).0
    }

    /// Returns the text with at most `elements` elements in it, and how many there are. When they are used
    /// up, colours are dropped and hidden characters are named without a frame.
    pub(crate) fn bounded(source: &str, elements: usize) -> (Self, usize) {
        Self::marked(source, None, elements)
    }

    /// Returns the same with each place marked that holds the words looked for, whatever their case.
    pub(crate) fn marked(source: &str, sought: Option<&Sought>, elements: usize) -> (Self, usize) {
        let room = elements.min(MAX_ELEMENTS);
        let out = String::with_capacity(source.len() + source.len() / 8);
        let mut writer = Writer { out, room, used: 0, style: Style::default(), open: false };
        let mut rest = source;
        while let Some((start, end)) = sought.and_then(|sought| sought.find(rest)) {
            writer.write(&rest[..start]);
            writer.mark(&rest[start..end]);
            rest = &rest[end..];
        }
        writer.write(rest);
        writer.close();
        (Self(writer.out), writer.used)
    }

    /// Returns the size in bytes.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

/// Words looked for, whatever their case.
#[derive(Clone, Debug)]
pub(crate) struct Sought(Vec<char>);

impl Sought {
    /// Returns nothing for no words.
    pub(crate) fn new(words: &str) -> Option<Self> {
        let words: Vec<char> = words.chars().flat_map(char::to_lowercase).collect();
        (!words.is_empty()).then_some(Self(words))
    }

    /// Returns whether the words are in `text`.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        self.find(text).is_some()
    }

    /// Returns where the words stand first.
    fn find(&self, text: &str) -> Option<(usize, usize)> {
        text.char_indices().find_map(|(at, _)| Some((at, at + self.length_at(&text[at..])?)))
    }

    /// Returns how many bytes at the beginning of `text` are the words.
    fn length_at(&self, text: &str) -> Option<usize> {
        let mut wanted = self.0.as_slice();
        for (at, char) in text.char_indices() {
            if wanted.is_empty() {
                return Some(at);
            }
            for lower in char.to_lowercase() {
                wanted = wanted.strip_prefix(&[lower])?;
            }
        }
        wanted.is_empty().then_some(text.len())
    }
}

/// Returns the text on one line with all that is hidden made visible; it still has to be escaped.
pub(crate) fn one_line(source: &str) -> String {
    let mut line = String::with_capacity(source.len());
    let mut chars = source.chars().peekable();
    let mut before = ' ';
    while let Some(char) = chars.next() {
        if char == ESCAPE && take_colours(&mut chars).is_some() {
            continue;
        }
        if char.is_whitespace() {
            if !line.ends_with(' ') {
                line.push(' ');
            }
        } else if let Some(name) = hidden(char, before, chars.peek().copied()) {
            line.push_str(&name);
        } else {
            line.push(char);
        }
        before = char;
    }
    line.trim().to_owned()
}

const ESCAPE: char = '\u{1b}';

/// Takes the codes of a colour sequence that follows an escape; any other sequence is left where it is.
fn take_colours(chars: &mut Peekable<Chars<'_>>) -> Option<Vec<u16>> {
    let mut ahead = chars.clone();
    if ahead.next() != Some('[') {
        return None;
    }
    let mut parameters = String::new();
    loop {
        match ahead.next()? {
            char @ ('0'..='9' | ';' | ':') if parameters.len() < 64 => parameters.push(char),
            'm' => break,
            _ => return None,
        }
    }
    *chars = ahead;
    Some(parameters.split([';', ':']).map(|code| code.parse().unwrap_or(0)).collect())
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Style {
    /// 0 to 15.
    colour: Option<u16>,
    is_bold: bool,
    is_faint: bool,
}

impl Style {
    fn obey(&mut self, codes: &[u16]) {
        let mut codes = codes.iter().copied();
        while let Some(code) = codes.next() {
            match code {
                0 => *self = Self::default(),
                1 => self.is_bold = true,
                2 => self.is_faint = true,
                22 => (self.is_bold, self.is_faint) = (false, false),
                30..=37 => self.colour = Some(code - 30),
                39 => self.colour = None,
                90..=97 => self.colour = Some(code - 82),
                // Colours of a larger palette are not shown, but their numbers are no codes.
                38 | 48 => match codes.next() {
                    Some(5) => drop(codes.next()),
                    Some(2) => drop((codes.next(), codes.next(), codes.next())),
                    _ => {}
                },
                _ => {}
            }
        }
    }
}

struct Writer {
    out: String,
    room: usize,
    used: usize,
    style: Style,
    open: bool,
}

impl Writer {
    fn write(&mut self, source: &str) {
        let mut chars = source.chars().peekable();
        let mut before = ' ';
        while let Some(char) = chars.next() {
            match char {
                '\n' | '\t' => self.out.push(char),
                '\r' if chars.peek() == Some(&'\n') => {}
                ESCAPE => match take_colours(&mut chars) {
                    Some(codes) => self.restyle(&codes),
                    None => self.out.push('␛'),
                },
                _ => match hidden(char, before, chars.peek().copied()) {
                    Some(name) => self.name(&name),
                    None => self.escape(char),
                },
            }
            before = char;
        }
    }

    fn escape(&mut self, char: char) {
        match char {
            '<' => self.out.push_str("&lt;"),
            '>' => self.out.push_str("&gt;"),
            '&' => self.out.push_str("&amp;"),
            '"' => self.out.push_str("&quot;"),
            '\'' => self.out.push_str("&#39;"),
            _ => self.out.push(char),
        }
    }

    /// The name is made of letters of ours.
    fn name(&mut self, name: &str) {
        if self.used < self.room && name.len() > 4 {
            self.used += 1;
            let _ = write!(self.out, "<span class=\"hid\">{name}</span>");
        } else {
            self.out.push_str(name);
        }
    }

    /// A mark stands in no coloured piece, and none reaches out of it.
    fn mark(&mut self, hit: &str) {
        if self.used >= self.room {
            return self.write(hit);
        }
        self.used += 1;
        self.close();
        self.out.push_str("<mark>");
        self.write(hit);
        self.close();
        self.out.push_str("</mark>");
        self.open_style();
    }

    fn restyle(&mut self, codes: &[u16]) {
        let before = self.style;
        self.style.obey(codes);
        if self.style == before {
            return;
        }
        self.close();
        self.open_style();
    }

    fn open_style(&mut self) {
        if self.style == Style::default() || self.used >= self.room {
            return;
        }
        self.used += 1;
        self.out.push_str("<span class=\"sgr");
        if let Some(colour) = self.style.colour {
            let _ = write!(self.out, " c{colour}");
        }
        self.out.push_str(if self.style.is_bold { " b" } else { "" });
        self.out.push_str(if self.style.is_faint { " f" } else { "" });
        self.out.push_str("\">");
        self.open = true;
    }

    fn close(&mut self) {
        if self.open {
            self.out.push_str("</span>");
            self.open = false;
        }
    }
}

/// Returns a visible name of a character that a reader could not see, or that could deceive one.
pub(crate) fn hidden(char: char, before: char, after: Option<char>) -> Option<String> {
    match char {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + char as u32).map(String::from),
        '\u{7f}' => Some("␡".to_owned()),
        // Between characters of scripts and pictures that need it, a joiner is no trick.
        '\u{200c}' | '\u{200d}' if !before.is_ascii() && after.is_some_and(|char| !char.is_ascii()) => None,
        '\u{80}'..='\u{9f}'
        | '\u{ad}'
        | '\u{61c}'
        | '\u{115f}'..='\u{1160}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}' => Some(format!("U+{:04X}", char as u32)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, expected: &str) {
        assert_eq!(Markup::text(source).to_string(), expected, "{source:?}");
    }

    #[test]
    fn markup_of_the_source_stays_text() {
        check(
            "<script>alert('1')</script> & \"x\"",
            "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &amp; &quot;x&quot;",
        );
    }

    #[test]
    fn colours_are_obeyed_and_closed() {
        check("\u{1b}[31;1mno\u{1b}[0m yes", "<span class=\"sgr c1 b\">no</span> yes");
        check("\u{1b}[92mopen", "<span class=\"sgr c10\">open</span>");
        check("\u{1b}[38;5;31mx", "x");
        check("\u{1b}[mx", "x");
    }

    #[test]
    fn other_escapes_are_shown() {
        check("\u{1b}[2Ka\u{1b}]8;;http://x\u{7}b", "␛[2Ka␛]8;;http://x␇b");
        check("\u{1b}[31", "␛[31");
    }

    #[test]
    fn hidden_characters_are_named() {
        check("a\u{202e}b", "a<span class=\"hid\">U+202E</span>b");
        check("a\u{200b}\0\r\nb\r", "a<span class=\"hid\">U+200B</span>␀\nb␍");
        check("👩\u{200d}🚀", "👩\u{200d}🚀");
        check("a\u{200d}b", "a<span class=\"hid\">U+200D</span>b");
    }

    #[test]
    fn elements_are_bounded() {
        let many = "\u{1b}[31ma\u{1b}[32mb\u{202e}".repeat(1000);
        let count = Markup::text(&many).to_string().matches("<span").count();
        assert_eq!(count, MAX_ELEMENTS);
        assert_eq!(Markup::text(&many).to_string().matches("</span>").count(), count);
    }

    #[test]
    fn what_was_sought_is_marked() {
        let marked = |text: &str, words: &str| {
            Markup::marked(text, Sought::new(words).as_ref(), MAX_ELEMENTS).0.to_string()
        };
        assert_eq!(marked("A <b> a<B>", "<B>"), "A <mark>&lt;b&gt;</mark> a<mark>&lt;B&gt;</mark>");
        assert_eq!(marked("ÜBER", "übe"), "<mark>ÜBE</mark>R");
        assert_eq!(
            marked("\u{1b}[31mred", "e"),
            "<span class=\"sgr c1\">r</span><mark>e</mark><span class=\"sgr c1\">d</span>"
        );
        assert_eq!(marked("ab", "abc"), "ab");
    }

    #[test]
    fn a_line_is_one_line() {
        assert_eq!(one_line(" a\n\n\tb \u{1b}[31mc\u{1b}[0m\u{202e}<"), "a b cU+202E<");
    }
}
