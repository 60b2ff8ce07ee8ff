import CounterfoilPages
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import Testing

/// Development redirect URIs: http on loopback for web and single-page clients.
struct DevelopmentRedirectURITests {
    typealias Refusal = RedirectURIRegistration.Refusal

    private static func context(_ type: ClientType) throws -> RedirectURIContext {
        RedirectURIContext(
            type: type, clientID: ClientIdentifier("app_darkroom"), issuer: try Issuer("https://id.example.com"))
    }

    private static func refusal(_ text: String, _ context: RedirectURIContext) -> Refusal? {
        switch RedirectURIRegistration.verdict(on: text, for: context) {
        case .accepted: nil
        case .refused(let refusal): refusal
        }
    }

    @Test(
        arguments: [ClientType.web, .singlePage],
        [
            ("http://localhost:5173/callback", 5173 as Int?), ("http://localhost/callback", nil),
            ("http://127.0.0.1:3000/", 3000), ("http://127.0.0.1", nil), ("http://[::1]:1/a?b=c", 1),
            ("http://[::1]/cb", nil), ("http://localhost:65535", 65535), ("http://localhost:80/cb", 80),
        ])
    func `a loopback URI of a web client is for development`(type: ClientType, uri: (text: String, port: Int?)) throws {
        let context = try Self.context(type)
        let verdict = RedirectURIRegistration.verdict(on: uri.text, for: context)
        #expect(verdict == .accepted(try RedirectURI(uri.text), warnings: [.development(port: uri.port)]))
        #expect(RedirectURIWarning.development(port: uri.port).isNote)
    }

    @Test(
        arguments: [ClientType.web, .singlePage],
        [
            ("http://me@localhost:5173/cb", Refusal.malformed(.hasUserInformation)),
            ("http://localhost@evil.example/cb", .malformed(.hasUserInformation)),
            ("http://localhost:0/cb", .malformed(.notAURI(.badPort))),
            ("http://localhost:70000/cb", .malformed(.notAURI(.badPort))),
            ("http://localhost:05173/cb", .malformed(.notAURI(.badPort))),
            ("http://localhost:5173/cb#x", .malformed(.hasFragment)),
            ("http://localhost:*/cb", .wildcard), ("http://localhost:5173/*", .wildcard),
            ("http://localhost:5173/a/../cb", .dotSegments),
            ("http://localhost:5173/cb?code=x", .reservedParameter("code")),
            ("http://LOCALHOST:5173/cb", .malformed(.insecure)),
            ("http://app.localhost:5173/cb", .malformed(.insecure)),
            ("http://localhost.:5173/cb", .malformed(.insecure)),
            ("http://127.0.0.2:5173/cb", .otherLoopbackAddress(.ipv4)),
            ("http://127.1:5173/cb", .otherLoopbackAddress(.ipv4)), ("http://0.0.0.0:5173/cb", .malformed(.insecure)),
            ("http://192.168.0.2:5173/cb", .malformed(.insecure)),
            ("http://localhost.evil.example/cb", .malformed(.insecure)),
            ("https://localhost:5173/cb", .httpsOnTheDevice), ("https://127.0.0.1:5173/cb", .httpsOnTheDevice),
            ("ws://localhost:5173/cb", .malformed(.dangerousScheme("ws"))),
        ])
    func `an unsafe development redirect URI is refused with the reason`(
        type: ClientType, uri: (text: String, expected: Refusal)
    ) throws {
        #expect(Self.refusal(uri.text, try Self.context(type)) == uri.expected)
    }

    // The rule of native clients stays: any port, and no consent page about development.
    @Test(arguments: ["http://localhost:5173/callback", "http://127.0.0.1:5173/callback", "http://[::1]/callback"])
    func `a loopback URI of a native client is not for development`(text: String) throws {
        var context = try Self.context(.native)
        context.allowsDevelopment = false
        context.isFirstParty = true
        guard case .accepted(let uri, let warnings) = RedirectURIRegistration.verdict(on: text, for: context) else {
            Issue.record("\(text) was refused")
            return
        }
        #expect(warnings.allSatisfy { if case .development = $0 { false } else { true } })
        #expect(!uri.isForDevelopment(of: .native))
        let other = try RedirectURI(text.replacing("5173", with: "5174"))
        #expect(RedirectURIMatching.matches(registered: uri, requested: other, of: .native))
    }

    @Test(arguments: [ClientType.web, .singlePage])
    func `a first-party client has no development redirect URI`(type: ClientType) throws {
        var context = try Self.context(type)
        context.isFirstParty = true
        #expect(Self.refusal("http://localhost:5173/cb", context) == .developmentOfFirstParty)
        #expect(Self.refusal("https://app.example/cb", context) == nil)
    }

    @Test(arguments: [ClientType.web, .singlePage])
    func `no development redirect URI is registered if they are switched off`(type: ClientType) throws {
        var context = try Self.context(type)
        context.allowsDevelopment = false
        let refusal = try #require(Self.refusal("http://localhost:5173/cb", context))
        #expect(refusal == .developmentOff)
        #expect(refusal.description.contains("--no-development-redirect-uris"))
        #expect(Self.refusal("https://app.example/cb", context) == nil)
    }

    // The port of this server is reserved under every name of the device.
    @Test(arguments: [ClientType.web, .singlePage])
    func `the port of a server on loopback is reserved for it`(type: ClientType) throws {
        var context = try Self.context(type)
        context.issuer = try Issuer("http://localhost:8080")
        for host in ["localhost", "127.0.0.1", "[::1]"] {
            #expect(Self.refusal("http://\(host):8080/cb", context) == .ownOrigin)
            #expect(Self.refusal("http://\(host):5173/cb", context) == nil)
        }
    }

    // The two directions: a URI for a first-party client, and first-party for a client with such a URI.
    @Test(arguments: [ClientType.web, .singlePage])
    func `the rules of registration and of policies refuse a first-party client under development`(
        type: ClientType
    ) throws {
        let rules = ClientRules(
            ServerSettings(issuer: try Issuer("https://id.example.com")), formats: .standard)
        var draft = ClientDraft()
        draft.name = "Gallery"
        draft.redirectURIs = ["https://app.example/cb", "http://localhost:5173/cb"]
        draft.postLogoutRedirectURIs = ["http://localhost:5173/"]
        let checked = try rules.check(draft, type: type, id: nil, isFirstParty: false)
        #expect(checked.redirectURIs.count == 2)
        let refused = try #require(throws: ClientRegistrationRefusal.self) {
            try rules.check(draft, type: type, id: nil, isFirstParty: true)
        }
        #expect(refused.problems.map(\.field) == [.redirectURIs, .postLogoutRedirectURIs])

        var policy = PolicyDraft(.standard(for: type))
        policy.isFirstParty = true
        let https = [try RedirectURI("https://app.example/cb")]
        func problems(_ redirectURIs: [RedirectURI], _ postLogoutRedirectURIs: [RedirectURI]) -> [ClientField] {
            do {
                _ = try rules.check(
                    policy, of: type, redirectURIs: redirectURIs, postLogoutRedirectURIs: postLogoutRedirectURIs,
                    scope: Scope(), now: .distantPast)
                return []
            } catch { return error.problems.map(\.field) }
        }
        #expect(problems(checked.redirectURIs, []) == [.firstParty])
        #expect(problems(https, checked.postLogoutRedirectURIs) == [.firstParty])
        #expect(problems(https, https) == [])
        policy.isFirstParty = false
        #expect(problems(checked.redirectURIs, checked.postLogoutRedirectURIs) == [])
    }
}
