import CounterfoilProtocol
import CounterfoilStore
import Testing

@testable import CounterfoilServer

/// The public suffix list, and the hosts that pages show with it.
struct ShownHostTests {
    @Test(arguments: [
        ("viewer.example", nil, "viewer.example"), ("apps.viewer.example", "apps.", "viewer.example"),
        ("a.b.viewer.co.uk", "a.b.", "viewer.co.uk"), ("co.uk", nil, "co.uk"),
        // Each user of the host has a name below the suffix, which is in the private part of the list.
        ("mallory.github.io", nil, "mallory.github.io"), ("x.mallory.github.io", "x.", "mallory.github.io"),
        // An internationalized name stays in ASCII.
        ("apps.xn--pple-43d.com", "apps.", "xn--pple-43d.com"), ("localhost", nil, "localhost"),
        ("a..b", nil, "a..b"),
    ])
    func `the registrable domain is set off`(host: String, subdomains: String?, domain: String) {
        let shown = ShownHost(host, suffixes: .system)
        #expect((shown.subdomains ?? "") + shown.domain == host)
        #expect(shown.subdomains == subdomains)
        #expect(shown.domain == domain)
    }

    @Test func `without the library the whole host is set off`() {
        #expect(PublicSuffixList(libraryNames: ["libnone.so.1", "libc.so.6"]) == nil)
        let shown = ShownHost("apps.viewer.co.uk", port: 8443, suffixes: nil)
        #expect(shown.subdomains == nil)
        #expect(shown.domain == "apps.viewer.co.uk")
        #expect(shown.port == ":8443")
    }
}
