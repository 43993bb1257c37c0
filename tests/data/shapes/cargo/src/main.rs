use serde::Serialize;

#[derive(Serialize)]
struct Found {
    words: usize,
}

fn found(text: &str) -> String {
    let words = regex::Regex::new(r"\w+").unwrap().find_iter(text).count();
    serde_json::to_string(&Found { words }).unwrap()
}

#[tokio::main]
async fn main() {
    println!("{}", found("three small words"));
}

#[test]
fn finds_words() {
    assert_eq!(found("three small words"), r#"{"words":3}"#);
}
