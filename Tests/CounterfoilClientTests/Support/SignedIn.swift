import CounterfoilClient
import CounterfoilClientTesting
import CounterfoilProtocol
import Foundation
import TestSupport

/// A user who has signed in at a scripted server and whose credentials are stored.
enum SignedIn {
    /// A clock at which an access token of one hour that is issued now has just expired, and a fresh one has
    /// not.
    static let later: @Sendable () -> Date = { Date().addingTimeInterval(3599) }

    /// Signs in through the browser and stores the credentials.
    @discardableResult
    static func at(
        _ server: ScriptedAuthorizationServer, scope: String = "photos.read", in store: any TokenStore,
        as profile: ProfileName = .standard, options: NativeSignIn.Options = .init()
    ) async throws -> Credentials {
        let credentials = try await signIn(at: server, scope: scope, options: options).run()
        try await store.save(credentials, as: profile)
        return credentials
    }

    /// Prepares a sign-in through the browser.
    static func signIn(
        at server: ScriptedAuthorizationServer, scope: String = "photos.read", options: NativeSignIn.Options = .init()
    ) throws -> NativeSignIn {
        var signIn = try NativeSignIn(issuer: server.issuer.rawValue, clientID: "lightbox", scope: scope)
        signIn.browser = ScriptedBrowser()
        signIn.timeout = .seconds(60)
        signIn.options = options
        return signIn
    }

    /// Returns the refresh requests that a server has received.
    static func refreshes(at server: ScriptedAuthorizationServer) -> [RecordedRequest] {
        server.requests(to: .token).filter { $0.form["grant_type"] == "refresh_token" }
    }
}
