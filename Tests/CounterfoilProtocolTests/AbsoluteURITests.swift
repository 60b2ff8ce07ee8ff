import CounterfoilProtocol
import Testing

struct AbsoluteURITests {
    @Test(arguments: [
        ("https://a.example/.", true), ("https://a.example/..", true), ("https://a.example/a/./b", true),
        ("https://a.example/a/../b", true), ("https://a.example/%2e", true), ("https://a.example/a/%2E./b", true),
        ("https://a.example/.%2e/", true), ("a:..", true), ("https://a.example/", false), ("https://a.example", false),
        ("https://a.example/...", false), ("https://a.example/.a", false), ("https://a.example/a.", false),
        ("https://a.example/a..b/c.json", false), ("https://a.example/%2e%2e%2e", false),
        ("https://a.example/%2f..", false), ("https://a.example/..%41", false), ("https://a.example/a?../b", false),
        ("https://a.example/%22", false), ("https://a.example/%3e", false),
    ])
    func `dot segments are found in the path only, percent-encoded or not`(text: String, hasThem: Bool) throws {
        #expect(try AbsoluteURI(parsing: text).hasDotSegments == hasThem)
    }
}
