import CounterfoilProtocol
import Testing

/// The comparison of resource indicators (RFC 3986 §6.2.2.1 and §6.2.3).
struct ResourceTests {
    @Test(arguments: [
        ("https://api.example.com", "https://api.example.com/"),
        ("https://api.example.com", "HTTPS://API.example.com:443"),
        ("http://localhost:8080", "http://LOCALHOST:8080/"),
        ("http://api.example.com:80/v1", "http://api.example.com/v1"),
        ("https://api.example.com?a=B", "https://api.example.com/?a=B"),
        ("https://[2001:DB8::1]/", "https://[2001:db8::1]"),
        ("urn:example:API", "URN:example:API"),
    ])
    func `equal spellings are equal, and each keeps its text`(one: String, other: String) throws {
        let (first, second) = (try Resource(one), try Resource(other))
        #expect(first == second)
        #expect(Set([first, second]).count == 1)
        #expect([first.rawValue, second.rawValue] == [one, other])
    }

    @Test(arguments: [
        ("https://api.example.com/v1", "https://api.example.com/v1/"),
        ("https://api.example.com/v1", "https://api.example.com/V1"),
        ("https://api.example.com", "https://api.example.com//"),
        ("https://api.example.com", "https://api.example.com/?"),
        ("https://api.example.com/?a", "https://api.example.com/?A"),
        ("https://api.example.com", "http://api.example.com"),
        ("https://api.example.com", "https://api.example.com:80"),
        ("http://api.example.com:443", "http://api.example.com"),
        ("https://api.example.com/a", "https://api.example.com/%61"),
        ("https://api.example.com/a", "https://api.example.com/b/../a"),
        ("https://user@api.example.com", "https://USER@api.example.com"),
        ("https://api.example.com", "https://api.example.com."),
        ("com.example.api://host", "com.example.api://host/"),
        ("urn:example:api", "urn:example:API"),
    ])
    func `different resources are different`(one: String, other: String) throws {
        #expect(try Resource(one) != Resource(other))
    }
}
