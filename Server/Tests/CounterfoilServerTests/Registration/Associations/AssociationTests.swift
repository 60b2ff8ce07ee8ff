import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The association files that name the apps that may claim URLs of this host, and the page at those URLs.
struct AssociationTests {
    private static let fingerprint = String(repeating: "AB:", count: 31) + "AB"
    private static let verified = ClientPolicy(isClaimedHTTPSVerified: true, requiresState: false)

    private struct Unexpected: Error {}

    private static func text(_ reply: Reply) throws -> String {
        guard case .json(let bytes) = reply.content else { throw Unexpected() }
        return String(decoding: bytes, as: UTF8.self)
    }

    // RFC 8252 §7.2
    @Test func `a verified app is listed in both files with its paths`() async throws {
        let test = try await TestServer()
        _ = try await test.register(
            "Darkroom",
            redirectURIs: [
                "https://id.example.com/callback/app_darkroom", "https://id.example.com:8443/oauth2/authorize",
                "https://id.example.com:8443/callback/app_darkroom", "https://id.example.com/sign-in",
                "https://elsewhere.example/cb", "com.example.darkroom:/cb", "http://127.0.0.1/cb",
            ],
            appleApps: ["ABCDE12345.com.example.darkroom"],
            androidApps: ["com.example.darkroom:\(Self.fingerprint)"], policy: Self.verified
        )
        let apple = await test.send(.get, to: .appleAssociation)
        #expect(apple.status == .ok)
        #expect(apple.fields[.cacheControl] == "public, max-age=3600")
        #expect(
            try Self.text(apple)
                == #"{"applinks":{"details":[{"appIDs":["ABCDE12345.com.example.darkroom"],"components":[{"/":"/callback/app_darkroom"}]}]}}"#
        )
        let android = await test.send(.get, to: .androidAssociation)
        #expect(android.status == .ok)
        #expect(
            try Self.text(android)
                == #"[{"relation":["delegate_permission/common.handle_all_urls"],"target":{"namespace":"android_app","package_name":"com.example.darkroom","sha256_cert_fingerprints":["\#(Self.fingerprint)"]}}]"#
        )
    }

    // An app that is unverified, not native, or without a URL on this host is not listed.
    @Test func `no other app is listed, and the files are valid without any app`() async throws {
        let test = try await TestServer()
        let own = "https://id.example.com/callback/app_darkroom"
        let apps = (["ABCDE12345.com.example.app"], ["com.example.app:\(Self.fingerprint)"])
        _ = try await test.register(
            "Darkroom", redirectURIs: [own], appleApps: apps.0, androidApps: apps.1, policy: ClientPolicy())
        _ = try await test.register(
            "Gallery", type: .web, redirectURIs: [own], appleApps: apps.0, androidApps: apps.1, policy: Self.verified)
        _ = try await test.register(
            "Elsewhere",
            redirectURIs: [
                "https://app.example/cb", "https://id.example.com.evil.example/cb",
                // The files state no port, so a URI with another port than the server's belongs to another server.
                "https://id.example.com:8443/oauth2/authorize", "https://id.example.com:8443/callback/app_elsewhere",
                "https://id.example.com/account", "https://id.example.com/callback/app_darkroom",
            ],
            appleApps: apps.0, androidApps: apps.1, policy: Self.verified)
        #expect(try Self.text(await test.send(.get, to: .appleAssociation)) == #"{"applinks":{"details":[]}}"#)
        #expect(try Self.text(await test.send(.get, to: .androidAssociation)) == "[]")
    }

    // The same apps produce the same bytes in any order, with each app listed once.
    @Test func `the files do not depend on the order of registration`() async throws {
        let registrations = [("Darkroom", "b"), ("Lightroom", "a")]
        var files: Set<String> = []
        for order in [registrations, registrations.reversed()] {
            let test = try await TestServer()
            for (name, app) in order {
                _ = try await test.register(
                    name, redirectURIs: ["https://id.example.com/callback/app_\(name.lowercased())"],
                    appleApps: ["ABCDE12345.com.example.\(app)", "ABCDE12345.com.example.shared"],
                    androidApps: [
                        "com.example.shared:\(Self.fingerprint)", "com.example.\(app):\(Self.fingerprint)",
                    ], policy: Self.verified)
            }
            files.insert(try Self.text(await test.send(.get, to: .appleAssociation)))
            files.insert(try Self.text(await test.send(.get, to: .androidAssociation)))
        }
        #expect(files.count == 2)
        #expect(files.allSatisfy { $0.components(separatedBy: ".shared\"").count == 2 })
    }

    // RFC 8252 §7.2
    @Test func `a native app has a callback page`() async throws {
        let test = try await TestServer()
        let own = "https://id.example.com/callback/app_darkroom"
        let client = try await test.register("Darkroom", redirectURIs: [own])
        let reply = try await Attempt(test, by: client, at: own).authorize()
        #expect(try reply.destination.hasPrefix(own + "?code="))
    }

    // Stored redirect URIs to any other URL of this server get no response, however they were stored.
    @Test(arguments: [
        (ClientType.native, "https://id.example.com/callback/app_lightbox"),
        (.native, "https://id.example.com/oauth2/authorize"), (.web, "https://id.example.com/callback/app_darkroom"),
        (.singlePage, "https://id.example.com/callback/app_darkroom"),
    ])
    func `no response goes to another URL of this server`(type: ClientType, address: String) async throws {
        let test = try await TestServer()
        let client = try await test.register("Darkroom", type: type, redirectURIs: [address])
        let reply = try await Attempt(test, by: client, at: address).firstReply()
        #expect(reply.status == .badRequest)
        #expect(reply.location == nil)
    }

    @Test func `the callback page names the app and reflects nothing of the request`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let reply = try await browser.send(.get, to: "/callback/app_lightbox?code=secretcode&state=s&error=evil")
        #expect(reply.status == .ok)
        #expect(reply.cookies.isEmpty)
        guard let page = reply.page as? AppLinkPage else {
            throw Unexpected()
        }
        #expect(page == AppLinkPage(clientName: "Lightbox"))
        #expect(try reply.html().contains("<b><bdi>Example Photos</bdi></b>"))
        #expect(!String(describing: reply).contains("secretcode"))
        #expect(!test.log.lines.joined().contains("secretcode"))
    }

    @Test func `a client that is not a native app has no callback page`() async throws {
        let test = try await TestServer()
        _ = try await test.register("Gallery", type: .web, redirectURIs: ["https://gallery.example/cb"])
        var browser = test.browser()
        for path in ["/callback/app_unknown?code=secretcode", "/callback/app_gallery?code=secretcode"] {
            let reply = try await browser.send(.get, to: path)
            #expect(reply.status == .notFound)
            #expect(!String(describing: reply).contains("secretcode"))
        }
        #expect(!test.log.lines.joined().contains("secretcode"))
        #expect(try await browser.send(.post, to: "/callback/app_lightbox").status == .methodNotAllowed)
    }
}
