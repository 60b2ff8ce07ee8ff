package import CounterfoilProtocol
package import CounterfoilStore
import Foundation

/// The association files of this host, which name the apps that may claim its URLs (RFC 8252 §7.2).
///
/// They list only the apps of native clients whose claimed https redirect URIs an administrator has verified. The
/// server reserves a callback URL at its own host for each native client (`CallbackURL`). Apple's file limits
/// each app to the path of this callback URL. Android's file has no such limit: a listed app may open every URL of
/// the host, including the sign-in page.
package struct AssociationFiles: Sendable, Hashable {
    /// The origin for which the files are created; a server has one or two origins, each with its own files.
    package enum Origin: Sendable, Hashable {
        /// The origin of the issuer, where users enter their passwords.
        case issuer(Issuer)
        /// The separate origin for callback URLs, where no user enters a password.
        case callbackOrigin(CallbackOrigin)
    }

    /// An app on Apple's platforms, by its application identifier, with the paths that it may claim.
    private struct AppleClaim: Hashable {
        let app: String
        let paths: [String]
    }

    private let apple: [AppleClaim]
    private let appleCredentials: [String]
    private let android: [String: Set<String>]

    /// Collects the apps of the native clients that have a verified callback URL at the given origin.
    package init(of clients: [RegisteredClient], at origin: Origin) {
        var paths: [String: Set<String>] = [:]
        var fingerprints: [String: Set<String>] = [:]
        var credentials: Set<String> = []
        for client in clients where client.type == .native && client.policy.isClaimedHTTPSVerified {
            guard let claimed = Self.claim(of: client, at: origin) else { continue }
            for app in client.appleApps { paths[app.rawValue, default: []].insert(claimed) }
            for app in client.androidApps { fingerprints[app.packageName, default: []].insert(app.fingerprint) }
            if Self.givesCredentials(to: client, at: origin) { credentials.formUnion(client.appleApps.map(\.rawValue)) }
        }
        apple = paths.map { AppleClaim(app: $0.key, paths: $0.value.sorted()) }.sorted { $0.app < $1.app }
        appleCredentials = credentials.sorted()
        android = fingerprints
    }

    /// The bytes of both files.
    struct Encoded: Sendable {
        /// `/.well-known/apple-app-site-association`.
        let appleAppSiteAssociation: [UInt8]
        /// `/.well-known/assetlinks.json`.
        let assetLinks: [UInt8]
    }

    /// Encodes both files.
    func encoded() throws -> Encoded {
        Encoded(appleAppSiteAssociation: try appleAppSiteAssociation(), assetLinks: try assetLinks())
    }

    /// Encodes `/.well-known/apple-app-site-association`.
    private func appleAppSiteAssociation() throws -> [UInt8] {
        try Self.encoded(
            AppleAppSiteAssociation(
                applinks: .init(
                    details: apple.map { claim in
                        .init(appIDs: [claim.app], components: claim.paths.map { .init(path: $0) })
                    }
                ),
                webcredentials: appleCredentials.isEmpty ? nil : .init(apps: appleCredentials)
            )
        )
    }

    /// Returns true if the apps of a client may be listed under `webcredentials`, which
    /// `ASWebAuthenticationSession` requires for an https callback.
    ///
    /// The same entry lets an app fill in the passwords that the user has saved for the host. At the host of the
    /// issuer, these are the passwords for this server, which only first-party apps may see.
    private static func givesCredentials(to client: RegisteredClient, at origin: Origin) -> Bool {
        switch origin {
        case .issuer: client.policy.isFirstParty
        case .callbackOrigin: true
        }
    }

    /// Encodes `/.well-known/assetlinks.json`.
    private func assetLinks() throws -> [UInt8] {
        try Self.encoded(
            android.sorted { $0.key < $1.key }.map { package, fingerprints in
                AssetLink(target: .init(packageName: package, fingerprints: fingerprints.sorted()))
            }
        )
    }

    /// Returns the path of the client's callback URL at an origin of this server; nil if none is registered.
    ///
    /// No other redirect URI of the client is listed. All other paths at the origin of the issuer belong to the
    /// server, such as those for sign-in and authorization. An association file contains paths without a port, which
    /// apply to the default port. If it listed the path of a redirect URI with another port, the app could claim a
    /// page of this server at the default port.
    private static func claim(of client: RegisteredClient, at origin: Origin) -> String? {
        let callback =
            switch origin {
            case .issuer(let issuer): CallbackURL(of: client.id, type: client.type, issuer: issuer)
            case .callbackOrigin(let origin): CallbackURL(of: client.id, type: client.type, at: origin)
            }
        return client.redirectURIs.first { $0.rawValue == callback?.rawValue }?.uri.path
    }

    private static func encoded(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(value))
    }
}

/// The content of `apple-app-site-association`: universal links and shared web credentials.
private struct AppleAppSiteAssociation: Encodable {
    struct Links: Encodable {
        let details: [Detail]
    }
    struct Detail: Encodable {
        let appIDs: [String]
        let components: [Component]
    }
    struct Component: Encodable {
        let path: String

        enum CodingKeys: String, CodingKey {
            case path = "/"
        }
    }

    /// The apps that may receive an https callback of `ASWebAuthenticationSession`, and may fill in the passwords
    /// that the user has saved for the host.
    struct Credentials: Encodable {
        let apps: [String]
    }

    let applinks: Links
    let webcredentials: Credentials?
}

/// An entry of `assetlinks.json`, which the Digital Asset Links format calls a statement.
private struct AssetLink: Encodable {
    struct Target: Encodable {
        let namespace = "android_app"
        let packageName: String
        let fingerprints: [String]

        enum CodingKeys: String, CodingKey {
            case namespace
            case packageName = "package_name"
            case fingerprints = "sha256_cert_fingerprints"
        }
    }

    let relation = ["delegate_permission/common.handle_all_urls"]
    let target: Target
}
