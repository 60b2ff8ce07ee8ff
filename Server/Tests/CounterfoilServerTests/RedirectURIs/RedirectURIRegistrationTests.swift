import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import Testing

/// The rules for registering redirect URIs, and their warnings.
struct RedirectURIRegistrationTests {
    typealias Refusal = RedirectURIRegistration.Refusal

    private static func context(
        _ type: ClientType = .native, appNames: Set<String> = [], schemesInUse: Set<String> = []
    ) throws -> RedirectURIContext {
        RedirectURIContext(
            type: type, clientID: ClientIdentifier("app_darkroom"), issuer: try Issuer("https://id.example.com"),
            appNames: appNames, schemesInUse: schemesInUse
        )
    }

    private static func refusal(_ text: String, _ type: ClientType = .native) throws -> Refusal? {
        switch RedirectURIRegistration.verdict(on: text, for: try context(type)) {
        case .accepted: nil
        case .refused(let refusal): refusal
        }
    }

    private static func warnings(_ text: String, for context: RedirectURIContext) throws -> [RedirectURIWarning] {
        switch RedirectURIRegistration.verdict(on: text, for: context) {
        case .accepted(let uri, let warnings):
            #expect(uri.rawValue == text)
            return warnings
        case .refused(let refusal): throw refusal
        }
    }

    // RFC 8252 §7.1, RFC 8252 §7.2, RFC 8252 §7.3
    @Test(arguments: [
        "http://127.0.0.1/callback", "http://127.0.0.1:4000/any/path/at/all", "http://[::1]/callback",
        "http://localhost/callback", "com.example.app:/callback", "com.example.app:/",
        "com.idp.usercontent.client1234:/callback", "com.example.my-app2:/a?b=c", "xn--p1ai.example:/cb",
        "https://app.example/callback", "https://app.example/callback?tenant=1", "https://app.example:8443/",
        "https://app.id.example.com/callback", "https://id.example.com:8443/callback", "https://app.example",
    ])
    func `the three kinds of redirect URI can be registered for a native app`(text: String) throws {
        #expect(try Self.refusal(text) == nil)
    }

    // RFC 8252 §7.1
    @Test(arguments: ["com.example.app:/callback", "http://127.0.0.1/callback"])
    func `a device may register the URIs of a native app, and a service none`(text: String) throws {
        #expect(try Self.refusal(text, .device) == nil)
        #expect(try Self.refusal(text, .service) == .noneForServices)
        #expect(try Self.refusal("https://app.example/cb", .service) == .noneForServices)
    }

    // RFC 8252 §7.3, RFC 9700 §2.6: private-use schemes are for apps on the device, and
    // http beside them for development.
    @Test(arguments: [ClientType.web, .singlePage])
    func `web clients register https URIs with a domain name, and loopback URIs`(type: ClientType) throws {
        for text in [
            "https://app.example/callback?tenant=1", "http://localhost/cb", "http://127.0.0.1:3000/cb",
            "http://[::1]/cb",
        ] {
            #expect(try Self.refusal(text, type) == nil, "\(text)")
        }
        let refused: [(String, Refusal)] = [
            ("http://app.example/cb", .malformed(.insecure)),
            ("https://localhost/cb", .httpsOnTheDevice), ("https://127.0.0.1/cb", .httpsOnTheDevice),
            ("https://[::1]/cb", .httpsOnTheDevice), ("https://192.0.2.1/cb", .ipAddressInsteadOfName),
            ("com.example.app:/cb", .schemeNotNative), ("vscode://publisher.app/cb", .schemeNotNative),
            ("https://id.example.com/callback/app_darkroom", .ownOrigin),
        ]
        for (text, expected) in refused { #expect(try Self.refusal(text, type) == expected, "\(text)") }
    }

    // RFC 8252 §7.1, RFC 8252 §8.4
    @Test(arguments: [
        ("myapp:/callback", Refusal.schemeWithoutPeriod("myapp")), ("a:/cb", .schemeWithoutPeriod("a")),
        ("my-app:/cb", .schemeWithoutPeriod("my-app")), ("myapp://callback", .schemeWithoutPeriod("myapp")),
        ("c.example:/cb", .schemeNotADomainName("c.example")),
        ("c0m.example:/cb", .schemeNotADomainName("c0m.example")),
        ("com..example:/cb", .schemeNotADomainName("com..example")), ("com.:/cb", .schemeNotADomainName("com.")),
        ("com.example.:/cb", .schemeNotADomainName("com.example.")),
        ("com.-example:/cb", .schemeNotADomainName("com.-example")),
        ("com.example-:/cb", .schemeNotADomainName("com.example-")),
        ("com.exam+ple:/cb", .schemeNotADomainName("com.exam+ple")),
        ("co-m.example:/cb", .schemeNotADomainName("co-m.example")),
        (
            "com.\(String(repeating: "a", count: 64)):/cb",
            .schemeNotADomainName("com.\(String(repeating: "a", count: 64))")
        ),
    ])
    func `a scheme must be a reversed domain name`(text: String, expected: Refusal) throws {
        #expect(try Self.refusal(text) == expected)
    }

    // RFC 8252 §7.1
    @Test(arguments: [
        "soap.beep", "soap.beeps", "iris.beep", "iris.lwz", "z39.50", "z39.50r", "xmlrpc.beeps",
        "microsoft.windows.camera", "MICROSOFT.WINDOWS.CAMERA.picker", "spotify", "vscode-insiders", "openid", "urn",
        "web+ap", "mongodb", "otpauth",
    ])
    func `a scheme that is registered at IANA is refused`(scheme: String) throws {
        #expect(try Self.refusal("\(scheme):/callback") == .registeredScheme(scheme.lowercased()))
    }

    // Schemes that browsers handle are refused before any other rule.
    @Test(arguments: [
        "javascript:alert(1)", "JavaScript:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd",
        "about:blank", "blob:https://app.example/x", "filesystem:https://app.example/x", "mailto:a@b.example",
        "tel:112", "view-source:https://app.example", "ftp://app.example/cb", "wss://app.example/cb",
    ])
    func `a scheme that browsers handle is refused`(text: String) throws {
        let scheme = text.prefix { $0 != ":" }.lowercased()
        for type in [ClientType.native, .web, .singlePage, .device] {
            #expect(try Self.refusal(text, type) == .malformed(.dangerousScheme(scheme)))
        }
    }

    // RFC 8252 §7.1
    @Test(arguments: [
        "com.example.app://callback", "com.example.app:///callback", "com.example.app:callback", "com.example.app:",
        "com.example.app:?a=1",
    ])
    func `a private-use scheme is followed by exactly one slash`(text: String) throws {
        #expect(try Self.refusal(text) == .notASingleSlash)
    }

    // RFC 3986 §6.2.2.3: browsers remove dot segments, so the response would go to a path that is not registered.
    @Test(arguments: [
        "https://app.example/../cb", "https://app.example/a/./cb", "https://app.example/a/..", "https://app.example/.",
        "https://app.example/%2e%2e/cb", "https://app.example/%2E./cb", "https://app.example/.%2e/cb?a=1",
        "http://127.0.0.1/a/../cb", "com.example.app:/../cb", "com.example.app:/%2e",
    ])
    func `a path with dot segments is refused`(text: String) throws {
        #expect(try Self.refusal(text) == .dotSegments)
    }

    @Test(arguments: [
        "https://app.example/.../cb", "https://app.example/.well-known/cb", "https://app.example/a..b",
        "https://app.example/cb?to=../x", "https://app.example/%2ea",
    ])
    func `a period elsewhere in a path is no dot segment`(text: String) throws {
        guard case .accepted = RedirectURIRegistration.verdict(on: text, for: RedirectURIContext(type: .web)) else {
            Issue.record("\(text) was refused")
            return
        }
    }

    // RFC 9700 §2.6
    @Test(arguments: [
        ("https://app.example/cb?code=attacker", Refusal.reservedParameter("code")),
        ("https://app.example/cb?state=x", .reservedParameter("state")),
        ("https://app.example/cb?a=1&iss=x", .reservedParameter("iss")),
        ("https://app.example/cb?%63ode=x", .reservedParameter("code")),
        ("https://app.example/cb?error=x", .reservedParameter("error")),
        ("https://app.example/cb?error_anything=x", .reservedParameter("error_anything")),
        ("https://app.example/cb?id_token=x", .reservedParameter("id_token")),
        ("https://app.example/cb?access_token=x", .reservedParameter("access_token")),
        ("https://app.example/cb?token_type=x", .reservedParameter("token_type")),
        ("https://app.example/cb?expires_in=x", .reservedParameter("expires_in")),
        ("https://app.example/cb?session_state=x", .reservedParameter("session_state")),
        ("http://127.0.0.1/cb?response=x", .reservedParameter("response")),
        ("com.example.app:/cb?code", .reservedParameter("code")), ("https://app.example/cb?x=%ff", .badQuery),
        ("https://*.app.example/cb", .wildcard), ("https://app.example/*", .wildcard),
        ("http://127.0.0.1:*/cb", .wildcard), ("com.example.*:/cb", .wildcard),
        ("https://app.example/cb#x", .malformed(.hasFragment)), ("com.example.app:/cb#", .malformed(.hasFragment)),
        ("https://me@app.example/cb", .malformed(.hasUserInformation)),
        ("http://app.example/cb", .malformed(.insecure)), ("http://127.0.0.1.example/cb", .malformed(.insecure)),
        ("/cb", .malformed(.notAURI(.relative))), ("", .malformed(.notAURI(.relative))),
        ("https:///cb", .malformed(.noHost)), ("https://app.example:0/cb", .malformed(.notAURI(.badPort))),
        ("https://app.example/ cb", .malformed(.notAURI(.badCharacter))),
        ("https://app.example/\(String(repeating: "a", count: 2048))", .tooLong),
        (String(repeating: "a", count: 65536), .tooLong),
    ])
    func `a URI that can never be safe is refused with the reason`(text: String, expected: Refusal) throws {
        #expect(try Self.refusal(text) == expected)
        #expect(throws: expected) {
            try RedirectURIRegistration.check(text, issuer: Issuer("https://id.example.com"))
        }
    }

    // A host must mean the same to this server and to every browser, which decodes it and parses numbers.
    @Test(arguments: [
        ("https://localhost:3000/cb", Refusal.httpsOnTheDevice), ("https://LOCALHOST/cb", .httpsOnTheDevice),
        ("https://app.localhost/cb", .httpsOnTheDevice), ("https://localhost./cb", .httpsOnTheDevice),
        ("https://127.0.0.1/cb", .httpsOnTheDevice), ("https://127.1/cb", .httpsOnTheDevice),
        ("https://[::1]/cb", .httpsOnTheDevice), ("https://192.0.2.1/cb", .ipAddressInsteadOfName),
        ("https://192.0.2.1./cb", .ipAddressInsteadOfName), ("https://2130706433/cb", .ipAddressInsteadOfName),
        ("https://0x7f000001/cb", .ipAddressInsteadOfName), ("https://0x7f.0.0.0x1/cb", .ipAddressInsteadOfName),
        ("https://app.0x/cb", .ipAddressInsteadOfName), ("https://[2001:db8::1]/cb", .ipAddressInsteadOfName),
        ("https://[::ffff:127.0.0.1]/cb", .ipAddressInsteadOfName), ("https://id%2Eexample.com/cb", .badHost),
        ("https://%6cocalhost/cb", .badHost), ("https://app..example/cb", .badHost), ("https://./cb", .badHost),
        ("https://app!.example/cb", .badHost), ("https://\(String(repeating: "a", count: 64)).example/cb", .badHost),
    ])
    func `an https URI needs the domain name of another host`(text: String, expected: Refusal) throws {
        for type in [ClientType.native, .web] { #expect(try Self.refusal(text, type) == expected) }
    }

    // The server's own origin is refused, except for the callback page of the client.
    @Test(arguments: [
        ("https://id.example.com/oauth2/authorize", true), ("https://id.example.com:443/x", true),
        ("https://ID.example.com/x", true), ("https://id.example.com./x", true), ("https://id.example.com", true),
        ("https://id.example.com/callback/app_lightbox", true), ("https://id.example.com/callback/app_darkroom/", true),
        ("https://id.example.com/callback/app_darkroom?x=1", true),
        ("https://id.example.com:443/callback/app_darkroom", true),
        ("https://ID.example.com/callback/app_darkroom", true),
        ("https://id.example.com/callback/%61pp_darkroom", true),
        ("https://id.example.com/x/../callback/app_darkroom", true),
        ("https://id.example.com/callback/app_darkroom", false),
    ])
    func `of this server's URLs a client can register only its own callback page`(text: String, isRefused: Bool)
        throws
    {
        #expect(try Self.refusal(text) == (isRefused ? .ownOrigin : nil))
        var other = try Self.context()
        other.clientID = nil
        #expect(RedirectURIRegistration.verdict(on: text, for: other) == .refused(.ownOrigin))
    }

    // An identifier with reserved characters could name the page of another client.
    @Test(arguments: ["app_lightbox?x", "app_lightbox#x", "../app_lightbox", "app%5flightbox", "a b", "."])
    func `an identifier with reserved characters has no callback page`(id: String) throws {
        var context = try Self.context()
        context.clientID = ClientIdentifier(id)
        #expect(context.clientID != nil)
        let text = "https://id.example.com/callback/\(id)"
        guard case .refused = RedirectURIRegistration.verdict(on: text, for: context) else {
            Issue.record("\(text) was accepted")
            return
        }
    }

    // With an issuer on loopback, its port is reserved under every name of the device.
    @Test(arguments: [
        ("http://127.0.0.1:8080/cb", true), ("http://localhost:8080/cb", true), ("http://[::1]:8080/cb", true),
        ("http://127.0.0.1:8080/callback/app_darkroom", true), ("http://127.0.0.1:8081/cb", false),
        ("http://127.0.0.1/cb", false),
    ])
    func `the port of a server on loopback is reserved`(text: String, isOwn: Bool) throws {
        var context = try Self.context()
        context.issuer = try Issuer("http://127.0.0.1:8080")
        let isRefused = RedirectURIRegistration.verdict(on: text, for: context) == .refused(.ownOrigin)
        #expect(isRefused == isOwn)
    }

    // Schemes of editors that an operator allows, and only those, with their two slashes.
    @Test func `a scheme without a period is accepted with a warning if it is allowed`() throws {
        var context = try Self.context()
        for scheme in ["vscode", "vscode-insiders"] {
            #expect(try Self.refusal("\(scheme)://publisher.app/callback") == .registeredScheme(scheme))
        }
        #expect(try Self.refusal("cursor://publisher.app/callback") == .schemeWithoutPeriod("cursor"))
        context.plainSchemes = ["vscode", "cursor"]
        for text in ["vscode://publisher.app/callback", "cursor://publisher.app/callback", "vscode:/callback"] {
            let scheme = String(text.prefix { $0 != ":" })
            #expect(try Self.warnings(text, for: context) == [.plainScheme(scheme)])
        }
        context.plainSchemes = ["myeditor", "javascript", "http"]
        #expect(try Self.warnings("myeditor://x/y", for: context) == [.plainScheme("myeditor")])
        for text in ["vscode://publisher.app/cb", "javascript:alert(1)", "http://app.example/cb"] {
            guard case .refused = RedirectURIRegistration.verdict(on: text, for: context) else {
                Issue.record("\(text) was accepted")
                continue
            }
        }
    }

    // An exception is for the exact URI, and for no scheme that browsers handle.
    @Test func `a URI that an administrator accepts may break the rules for schemes`() throws {
        var context = try Self.context()
        let uris = ["com.example.app://callback", "lightbox://oauth", "spotify:callback", "com.example.app:cb"]
        context.acceptedURIs = Set(uris + ["com.example.app:/cb", "javascript:alert(1)", "http://app.example/cb"])
        for text in uris {
            let scheme = String(text.prefix { $0 != ":" })
            #expect(try Self.warnings(text, for: context) == [.acceptedException(scheme)])
            #expect(throws: Refusal.self) { try Self.warnings(text + "x", for: context) }
        }
        #expect(try Self.warnings("com.example.app:/cb", for: context) == [])
        for text in ["javascript:alert(1)", "http://app.example/cb"] {
            #expect(throws: Refusal.self) { try Self.warnings(text, for: context) }
        }
        context.type = .web
        #expect(throws: Refusal.schemeNotNative) { try Self.warnings("lightbox://oauth", for: context) }
    }

    // RFC 3986 §3.2.2
    @Test(arguments: ["http://::1/cb", "http://::1:8080/cb", "https://2001:db8::1/cb", "http://::ffff:127.0.0.1/cb"])
    func `an IPv6 address without brackets is refused for the brackets`(text: String) throws {
        #expect(try Self.refusal(text) == .malformed(.notAURI(.missingBrackets)))
    }

    // RFC 8252 §7.3
    @Test(arguments: [
        ("http://[0:0:0:0:0:0:0:1]/cb", LoopbackHost.ipv6), ("http://[::0001]:8080/cb", .ipv6),
        ("http://[0::1]/cb", .ipv6), ("http://127.0.0.2/cb", .ipv4), ("http://127.1:8080/cb", .ipv4),
    ])
    func `another loopback address is refused with the one to write`(text: String, host: LoopbackHost) throws {
        let refusal = try #require(try Self.refusal(text))
        #expect(refusal == .otherLoopbackAddress(host))
        #expect(Localizer.english(refusal.text).contains("http://\(host.rawValue)/callback"))
    }

    // RFC 8252 §7.3
    @Test(arguments: ["http://[::10]/cb", "http://[1::]/cb", "http://[2001:db8::1]/cb", "http://128.0.0.1/cb"])
    func `an http URI at an address of another machine is refused as insecure`(text: String) throws {
        #expect(try Self.refusal(text) == .malformed(.insecure))
    }

    // RFC 8252 appendix B.3
    @Test func `Windows accepts schemes of 39 characters`() throws {
        let longest = "com.example." + String(repeating: "a", count: 27)
        #expect(longest.utf8.count == 39)
        #expect(try Self.warnings("\(longest):/cb", for: Self.context()) == [])
        #expect(try Self.warnings("\(longest)b:/cb", for: Self.context()) == [.longScheme("\(longest)b")])
    }

    @Test func `a scheme of another client of the owner gets a warning`() throws {
        let others = [
            RegisteredClient(
                id: try #require(ClientIdentifier("app_lightbox")), type: .native,
                presentation: ClientPresentation(name: "Lightbox"),
                redirectURIs: try ["COM.example.app:/cb", "https://app.example/cb", "http://127.0.0.1/cb"].map {
                    try RedirectURI($0)
                }, scope: Scope([]), policy: ClientPolicy(), createdAt: .distantPast)
        ]
        let context = try Self.context(schemesInUse: RedirectURIContext.schemes(of: others))
        #expect(context.schemesInUse == ["com.example.app"])
        #expect(try Self.warnings("com.example.app:/cb", for: context) == [.schemeInUse("com.example.app")])
        #expect(try Self.warnings("com.example.other:/cb", for: context) == [])
    }

    @Test func `a scheme that is no identifier of the app gets a warning if identifiers are given`() throws {
        let named = try Self.context(appNames: ["com.example.App", "com.example.app.android"])
        #expect(try Self.warnings("com.example.app:/cb", for: named) == [])
        #expect(try Self.warnings("com.example.other:/cb", for: named) == [.notAnAppName("com.example.other")])
        #expect(try Self.warnings("com.example.other:/cb", for: Self.context()) == [])
        #expect(RedirectURIWarning.notAnAppName("x").isNote)
    }

    // RFC 8252 §7.3, RFC 8252 §8.3
    @Test(arguments: [
        ("http://localhost/cb", [RedirectURIWarning.localhost]),
        ("http://localhost:4000/cb", [.localhost, .portIgnored(4000)]),
        ("http://127.0.0.1:4000/cb", [.portIgnored(4000)]), ("http://[::1]/cb", []),
        ("https://app.example/cb", [.claimed]), ("https://APP.example/cb", [.claimed, .upperCase]),
        ("https://id.example.com/callback/app_darkroom", [.claimed]),
        ("COM.example.app:/cb", [.upperCase]), ("example.com:/cb", [.perhapsNotReversed("example.com")]),
        ("com.example.io:/cb", []), ("de.example.info:/cb", []),
    ])
    func `risky URIs are accepted with a warning`(text: String, expected: [RedirectURIWarning]) throws {
        #expect(try Self.warnings(text, for: Self.context()) == expected)
        for warning in expected { #expect(!Localizer.english(warning.text).hasPrefix("redirect-uri.")) }
    }

    @Test func `every verdict has a text`() {
        let malformed: [RedirectURI.Refusal] = [
            .notAURI(.tooLong), .notAURI(.relative), .notAURI(.badCharacter), .notAURI(.badPort),
            .notAURI(.badAuthority), .notAURI(.missingBrackets), .hasFragment, .hasUserInformation, .noHost, .insecure,
            .dangerousScheme("javascript"),
        ]
        let refusals: [Refusal] = [
            .tooLong, .wildcard, .dotSegments, .badQuery, .reservedParameter("code"), .ownOrigin, .badHost,
            .ipAddressInsteadOfName, .httpsOnTheDevice, .otherLoopbackAddress(.ipv6), .developmentOff,
            .developmentOfFirstParty, .schemeNotNative, .noneForServices,
            .schemeWithoutPeriod("myapp"), .schemeNotADomainName("c.example"), .registeredScheme("spotify"),
            .notASingleSlash,
        ]
        let warnings: [RedirectURIWarning] = [
            .localhost, .portIgnored(4000), .longScheme("com.example.app"), .notAnAppName("com.example.app"),
            .schemeInUse("com.example.app"), .plainScheme("vscode"), .acceptedException("lightbox"),
            .perhapsNotReversed("example.com"), .upperCase,
            .claimed, .development(port: 5173), .development(port: nil),
        ]
        let requests: [RedirectURIMatching.Refusal] = [
            .notRegistered, .ambiguous, .requiredByOpenID, .portUnknown, .ownOrigin, .developmentOff,
        ]
        let unusable = malformed.map(RedirectURIMatching.Refusal.malformed)
        let messages: [[any Localized]] = [refusals, malformed, warnings, requests, unusable]
        for message in messages.joined() {
            let said = Localizer.english(message)
            #expect(said.hasSuffix(".") && said != message.text.key && !said.contains("{"), "\(said)")
        }
        #expect(Set(refusals.map { Localizer.english($0) }).count == refusals.count)
        #expect(Set(warnings.map { Localizer.english($0) }).count == warnings.count)
    }

    // The refusal contains text of the developer; it stays short however long the scheme is.
    @Test func `a refusal of a long scheme is short`() throws {
        let refusal = try #require(try Self.refusal(String(repeating: "a", count: 2000) + ":/cb"))
        #expect(refusal.description.utf8.count < 400)
    }
}
