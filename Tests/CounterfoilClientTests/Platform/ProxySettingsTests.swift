import Testing

@testable import CounterfoilClient

/// Tests of the proxy that the environment names for a URL.
struct ProxySettingsTests {
    private static func proxy(_ url: String, _ environment: [String: String]) throws -> String? {
        try ProxySettings(environment).proxy(for: EndpointURL(url))?.name
    }

    @Test(arguments: [
        (["HTTPS_PROXY": "http://proxy.example:3128"], "proxy.example:3128"),
        (["https_proxy": "proxy.example:3128/", "HTTPS_PROXY": "http://other.example"], "proxy.example:3128"),
        (["https_proxy": "", "HTTPS_PROXY": "HTTP://proxy.example"], "proxy.example:80"),
        (["ALL_PROXY": "http://[2001:db8::1]:8080"], "[2001:db8::1]:8080"),
        (["all_proxy": "proxy.example:1", "HTTPS_PROXY": "http://user:pass@proxy.example:2"], "proxy.example:2"),
        (["https_proxy": "proxy.example:3", "ALL_PROXY": "socks5://proxy.example:1080"], "proxy.example:3"),
        (["HTTP_PROXY": "http://proxy.example:3128"], nil),
        (["http_proxy": "http://proxy.example:3128"], nil), ([:], nil),
    ])
    func `the variables name the proxy in the order of curl`(environment: [String: String], proxy: String?) throws {
        #expect(try Self.proxy("https://id.example.com/token", environment) == proxy)
    }

    // Plain http is sent only to loopback.
    @Test(arguments: [
        "http://127.0.0.1:8080/", "http://[::1]:8080/", "http://localhost/", "https://localhost:8443/",
        "https://127.8.9.10/", "https://[::1]/", "https://[0:0:0:0:0:0:0:1]/", "https://app.localhost/",
        "https://LOCALHOST./",
    ])
    func `loopback is never reached through a proxy`(url: String) throws {
        #expect(try Self.proxy(url, ["HTTPS_PROXY": "proxy.example", "ALL_PROXY": "proxy.example"]) == nil)
    }

    @Test(arguments: [
        ("*", "https://id.example.com/", true), ("example.com", "https://id.example.com/", true),
        (".example.com", "https://id.example.com/", true), ("*.example.com", "https://example.com/", true),
        ("Example.COM.", "https://ID.example.com./", true), ("ample.com", "https://id.example.com/", false),
        ("id.example.com", "https://example.com/", false), ("a, b ,id.example.com", "https://id.example.com/", true),
        ("example.com:443", "https://id.example.com/", true), ("example.com:8443", "https://id.example.com/", false),
        ("example.com:8443", "https://id.example.com:8443/", true), ("example.com:x", "https://example.com/", false),
        ("10.0.0.0/8", "https://10.200.3.4/", true), ("10.0.0.0/8", "https://11.0.0.1/", false),
        ("10.128.0.0/9", "https://10.127.0.1/", false), ("0.0.0.0/0", "https://192.0.2.1/", true),
        ("10.0.0.0/33", "https://10.0.0.1/", false), ("10.0.0.0/8", "https://a10.example.com/", false),
        ("192.0.2.1", "https://192.0.2.1/", true), ("192.0.2.1:443", "https://192.0.2.1/", true),
        ("192.0.2.1", "https://192.0.2.10/", false), ("2.1", "https://192.0.2.1/", false),
        ("2001:db8::/32", "https://[2001:db8:1::1]/", true), ("2001:DB8:0::1", "https://[2001:db8::1]/", true),
        ("[2001:db8::1]:443", "https://[2001:db8::1]/", true), ("[2001:db8::1]:1", "https://[2001:db8::1]/", false),
        ("2001:db8::/32", "https://192.0.2.1/", false), ("", "https://id.example.com/", false),
    ])
    func `NO_PROXY lists domains, addresses, ranges and ports`(list: String, url: String, isDirect: Bool) throws {
        let upper = try Self.proxy(url, ["HTTPS_PROXY": "p", "NO_PROXY": list])
        #expect((upper == nil) == isDirect)
        let lower = try Self.proxy(url, ["HTTPS_PROXY": "p", "no_proxy": list, "NO_PROXY": list.isEmpty ? "" : "*"])
        #expect((lower == nil) == isDirect)
    }

    @Test func `credentials are percent-decoded`() throws {
        for (text, user, password) in [
            ("http://al%40ice:p%3Aa%25b:c@proxy", "al@ice", "p:a%b:c"), ("http://alice@proxy", "alice", ""),
            ("http://%C3%A4:@proxy", "ä", ""),
        ] {
            let credentials = try #require(ProxySettings.Proxy(parsing: text)?.credentials)
            #expect((credentials.user, credentials.password) == (user, password))
        }
        #expect(ProxySettings.Proxy(parsing: "http://%FF@proxy") == nil)
    }

    @Test(
        arguments: ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"],
        [
            "https://proxy.example", "ftp://proxy.example", "http://", "proxy:0", "a b", "http://p/path",
            "socks5://proxy.example:1080", "SOCKS5H://proxy.example:1080", "socks4://proxy.example", "socks://p",
        ])
    func `a value that is no HTTP proxy is an error and does not send requests directly`(
        variable: String, text: String
    ) throws {
        #expect(throws: ProxySettings.Unusable(variable: variable)) {
            try Self.proxy("https://id.example.com/", [variable: text])
        }
        #expect(try Self.proxy("https://id.example.com/", [variable: text, "NO_PROXY": "example.com"]) == nil)
        #expect(try Self.proxy("http://127.0.0.1:8080/", [variable: text]) == nil)
    }
}
