import CounterfoilProtocol
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Testing

@testable import CounterfoilServer

/// The scope of an unregistered client, judged as a pure function (RFC 6749 §3.3).
struct ScopeRuleTests {
    private static let allowed = "openid profile offline_access photos.read photos.write files.read"
    private static let byDefault = "photos.read files.read photos.delete"

    /// The API with the photos, which has a scope that such a client may not have; nil for no API.
    private static func photos(_ isNamed: Bool, scope: String = "photos.read photos.write photos.delete") throws
        -> NamedResources
    {
        guard isNamed else { return NamedResources(known: [], unknown: []) }
        let api = NamedResources.NamedResource(
            resource: try Resource("https://photos.example.com"), name: "Photos", scope: try Scope(lenient: scope),
            tokenType: .atJWT, requiresBoundTokens: false)
        return NamedResources(known: [api], unknown: [])
    }

    private static func narrowed(_ requested: String, isAPINamed: Bool, default byDefault: String = byDefault) throws
        -> String
    {
        try AuthorizationValidation.narrow(
            try Scope(lenient: requested), within: try Scope(lenient: allowed),
            under: .narrowed(byDefault: try Scope(lenient: byDefault)), to: try photos(isAPINamed)
        ).description
    }

    // Some clients that know no scope of the API request every scope in the metadata of the server.
    @Test(arguments: [
        ("openid profile email", "openid profile photos.read"),
        ("openid offline_access profile email address phone", "openid offline_access profile photos.read"),
        ("files.read", "photos.read"), ("openid nothing.here", "openid photos.read"),
    ])
    func `a request that names an API and none of its scopes gets the default of the API`(
        requested: String, narrowed: String
    ) throws {
        #expect(try Self.narrowed(requested, isAPINamed: true) == narrowed)
    }

    @Test(arguments: [
        ("photos.write", "photos.write"), ("photos.read photos.delete", "photos.read"),
        ("photos.write offline_access nothing.here", "photos.write offline_access"),
        ("openid files.read photos.read", "openid photos.read"),
    ])
    func `a request for scopes of the API loses those that the client may not have`(
        requested: String, narrowed: String
    ) throws {
        #expect(try Self.narrowed(requested, isAPINamed: true) == narrowed)
    }

    @Test(arguments: ["photos.delete", "openid photos.delete", "files.read photos.delete"])
    func `a request for scopes of the API that are all above the maximum is refused`(requested: String) throws {
        let error = #expect(throws: OAuthError.self) { try Self.narrowed(requested, isAPINamed: true) }
        #expect(error?.code == .invalidScope)
        #expect(
            error?.description
                == "this client may not request these scopes of the resource https://photos.example.com: photos.delete; "
                + "omit scope to get the default")
    }

    @Test func `an API without a default is refused`() throws {
        let error = #expect(throws: OAuthError.self) {
            try Self.narrowed("openid", isAPINamed: true, default: "photos.delete")
        }
        #expect(error?.code == .invalidScope)
    }

    @Test(arguments: [
        ("openid profile", "openid profile"), ("openid nothing.here photos.read", "openid photos.read"),
        ("photos.read photos.delete", "photos.read"),
    ])
    func `without an API the scopes that the client may have are left`(requested: String, narrowed: String) throws {
        #expect(try Self.narrowed(requested, isAPINamed: false) == narrowed)
    }

    @Test(arguments: ["photos.delete", "openid photos.delete", "nothing.here"])
    func `without an API a request of which no API scope is left is refused`(requested: String) throws {
        let error = #expect(throws: OAuthError.self) { try Self.narrowed(requested, isAPINamed: false) }
        #expect(error?.code == .invalidScope)
    }

    @Test func `an API that is not registered is refused first`() throws {
        let named = NamedResources(known: [], unknown: [try Resource("https://other.example.com")])
        let error = #expect(throws: OAuthError.self) {
            try AuthorizationValidation.narrow(
                Scope([.openID]), within: Scope([.openID]), under: .narrowed(byDefault: Scope()), to: named)
        }
        #expect(error?.code == .invalidTarget)
    }

    // A developer who registers a client chooses its scopes.
    @Test func `a registered client is refused for what it may not have, and gets no default`() async throws {
        let test = try await TestServer()
        _ = try await test.addAPI(scope: "photos.read photos.write photos.delete")
        let attempt = Attempt(test).adding("resource", "https://photos.example.com")
        for scope in ["photos.read photos.delete", "photos.read nothing.here", "openid profile"] {
            #expect(try await attempt.with("scope", scope).error().code == .invalidScope)
        }
    }
}
