package import CounterfoilProtocol
import Foundation

/// The association files of this host, which name the apps that may claim its URLs (RFC 8252 §7.2).
///
/// They contain only native clients whose claim an administrator has verified. On Apple's platforms, the
/// links of an app cover its callback URL only. The relation of Android covers every URL of the host,
/// including the sign-in page, so it is given to verified clients only.
package struct AssociationFiles: Sendable, Hashable {
    /// The origin that serves the files.
    package enum Place: Sendable, Hashable {
        /// The origin of the issuer, where users enter their passwords.
        case issuer(Issuer)
        /// The second origin, where no user enters a password.
        case callbackOrigin(CallbackOrigin)
    }

    /// The paths that an app on Apple's platforms may claim.
    private struct AppleClaim: Hashable {
        let app: String
        let paths: [String]
    }

    private let apple: [AppleClaim]
    private let appleCredentials: [String]
    private let android: [String: Set<String>]

    /// Collects the claims of clients at an origin of the server.
    package init(of clients: [RegisteredClient], at place: Place) {
        var paths: [String: Set<String>] = [:]
        var fingerprints: [String: Set<String>] = [:]
        var credentials: Set<String> = []
        for client in clients where client.type == .native && client.policy.isClaimedHTTPSVerified {
            guard let claimed = Self.claim(of: client, at: place) else { continue }
            for app in client.appleApps { paths[app.rawValue, default: []].insert(claimed) }
            for app in client.androidApps { fingerprints[app.packageName, default: []].insert(app.fingerprint) }
            if Self.givesCredentials(to: client, at: place) { credentials.formUnion(client.appleApps.map(\.rawValue)) }
        }
        apple = paths.map { AppleClaim(app: $0.key, paths: $0.value.sorted()) }.sorted { $0.app < $1.app }
        appleCredentials = credentials.sorted()
        android = fingerprints
    }

    /// Encodes `/.well-known/apple-app-site-association`.
    package func appleAppSiteAssociation() throws -> [UInt8] {
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

    /// Returns true if an app may be associated by `webcredentials`, which ASWebAuthenticationSession
    /// requires for an https callback.
    ///
    /// The same association lets the app fill in the saved passwords of the host. At the issuer those are
    /// the passwords of this server, which only first-party apps may see.
    private static func givesCredentials(to client: RegisteredClient, at place: Place) -> Bool {
        switch place {
        case .issuer: client.policy.isFirstParty
        case .callbackOrigin: true
        }
    }

    /// Encodes `/.well-known/assetlinks.json`.
    package func assetLinks() throws -> [UInt8] {
        try Self.encoded(
            android.sorted { $0.key < $1.key }.map { package, fingerprints in
                AssetLink(target: .init(packageName: package, fingerprints: fingerprints.sorted()))
            }
        )
    }

    /// Finds the path that a client claims at an origin of this server; nil if it claims none there.
    ///
    /// The files name paths only, for the host and its default port. They therefore contain only the
    /// callback URL of the client. A URL at another port would give the app the same path at the default
    /// port. Every other path of the issuer's origin belongs to the server, sign-in and authorization among
    /// them.
    private static func claim(of client: RegisteredClient, at place: Place) -> String? {
        let callback =
            switch place {
            case .issuer(let issuer): CallbackAddress(of: client.id, type: client.type, issuer: issuer)
            case .callbackOrigin(let origin): CallbackAddress(of: client.id, type: client.type, at: origin)
            }
        return client.redirectURIs.first { $0.rawValue == callback?.rawValue }?.uri.path
    }

    private static func encoded(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(value))
    }
}

/// `apple-app-site-association`, with universal links and shared web credentials.
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

    /// The apps that may receive an https callback of ASWebAuthenticationSession and fill in passwords of
    /// the host.
    struct Credentials: Encodable {
        let apps: [String]
    }

    let applinks: Links
    let webcredentials: Credentials?
}

/// A statement of `assetlinks.json`.
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
