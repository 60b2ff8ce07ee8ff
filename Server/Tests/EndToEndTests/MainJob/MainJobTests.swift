import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

/// The main use case with the released programs: a user signs in to a client on the server's pages, and the
/// client calls an API.
@Suite(.timeLimit(.minutes(10)))
struct MainJobTests {
    @Test func `a user signs in through the browser, and the client calls the API`() async throws {
        try await Site.run { site, clientID in
            try await PhotoAPI.run(for: site) { api in
                let device = try Device(in: site.folder)
                let login = try device.beginLogin(site, clientID: clientID, "--par", "never")
                let ended = try await login.whileRunning {
                    let address = try await device.openedAddress()
                    #expect(!address.contains("?"))
                    let request = try Self.parameters(of: Self.printedURL(of: login))
                    #expect(try request.single("response_type") == "code")
                    #expect(try request.single("code_challenge_method") == "S256")

                    var browser = UserAgent()
                    let signIn = try await browser.open(address)
                    #expect(signIn.url.hasPrefix(site.issuer))
                    #expect(signIn.heading == "Sign in to Example Photos")
                    let consent = try await Account.alice.fillIn(signIn, in: &browser)
                    #expect(consent.url.hasPrefix(site.issuer))
                    #expect(consent.text.contains("See your photos and albums"))
                    let proceed = try await browser.submit(
                        try consent.form(withButton: "allow"), ["decision": "allow"])
                    let closing = try await browser.proceed(from: proceed)
                    #expect(closing.heading == "You can close this tab")
                    return try await login.ended()
                }
                #expect(ended.status == 0)
                #expect(ended.output.hasPrefix("Signed in at \(site.issuer)"))

                let token = try await device.counterfoil("token")
                #expect(token.status == 0)
                let (header, claims) = try Self.read(token.output.trimmingCharacters(in: .newlines))
                #expect(header["typ"] as? String == "at+jwt")
                #expect(claims["client_id"] as? String == clientID)
                #expect(claims["scope"] as? String == "openid photos.read")
                let lifetime = try #require(claims["exp"] as? Int) - (try #require(claims["iat"] as? Int))
                #expect(lifetime == 3600)

                let photos = try await device.counterfoil("call", "\(api)/photos")
                #expect(photos.status == 0)
                #expect(photos.output.contains("First snow on the ridge"))

                // The programs print codes and tokens only on request.
                #expect(!(ended.output + ended.errors + photos.errors).contains("eyJ"))

                #expect(try await device.counterfoil("logout").status == 0)
                let after = try await device.counterfoil("token")
                #expect(after.status == 3)
                #expect(after.output.isEmpty)
                #expect(
                    after.errors == "Error: no user is signed in under the profile default; run: counterfoil login\n")
            }
        }
    }

    // RFC 9068 §3: the API is registered under its own URI, and the client names no resource.
    @Test func `a sign-in without resource calls the registered API of its scope, and UserInfo`() async throws {
        let uri = "https://photos.example.com"
        try await Site.run { site, clientID in
            let created = try await site.administer([
                "resource", "create", uri, "--name", "Photo library", "--scope", "photos.read",
            ])
            #expect(created.status == 0)
            try await PhotoAPI.run(for: site, audience: uri) { api in
                let device = try Device(in: site.folder)
                #expect(try await device.signIn(.alice, at: site, clientID: clientID).status == 0)
                let photos = try await device.counterfoil("call", "\(api)/photos")
                #expect(photos.status == 0, "\(photos.errors)")
                #expect(photos.output.contains("First snow on the ridge"))
                let user = try await device.counterfoil("whoami")
                #expect(user.status == 0, "\(user.errors)")
                #expect(user.output.contains("sub: "))
                let token = try await device.counterfoil("token")
                let (_, claims) = try Self.read(token.output.trimmingCharacters(in: .newlines))
                #expect(claims["aud"] as? [String] == [uri, site.issuer])
            }
        }
    }

    @Test func `a valid token of another user does not open a photo`() async throws {
        try await Site.run { site, clientID in
            try await site.add(.bob)
            try await PhotoAPI.run(for: site) { api in
                let hers = try Device(in: site.folder)
                let his = try Device(in: site.folder)
                #expect(try await hers.signIn(.alice, at: site, clientID: clientID).status == 0)
                #expect(try await his.signIn(.bob, at: site, clientID: clientID).status == 0)

                struct Album: Decodable {
                    struct Photo: Decodable { let id: String }
                    let photos: [Photo]
                }
                let list = try await hers.counterfoil("call", "\(api)/photos").output
                let photo = try #require(try JSONDecoder().decode(Album.self, from: Data(list.utf8)).photos.first)
                #expect(try await hers.counterfoil("call", "\(api)/photos/\(photo.id)").status == 0)
                let refused = try await his.counterfoil("call", "--include", "\(api)/photos/\(photo.id)")
                #expect(refused.status == 7)
                #expect(refused.output.hasPrefix("HTTP 403"))
                #expect(!refused.output.contains("First snow"))
                #expect(
                    refused.errors == "Error: the API denied access (status 403); check the permissions of the user\n")
            }
        }
    }

    @Test func `the consent page names the client, the permissions and the redirect URI`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            try await site.addScope("photos.read", "See your photos and albums")
            let clientID = try await site.registerClient(
                "Lightbox <b>Pro</b>", options: ["--publisher", "Lightbox AS & Sons"])
            try await site.serving {
                var browser = UserAgent()
                let consent = try await Account.alice.signIn(
                    ClientAuthorizationRequest(site, clientID).url, in: &browser)
                for words in ["Lightbox <b>Pro</b>", "Lightbox AS & Sons", "127.0.0.1", "See your photos and albums"] {
                    #expect(consent.text.contains(words))
                }
                #expect(!consent.body.contains("<b>Pro"))
            }
        }
    }

    // A live session skips the sign-in page.
    @Test func `a user with a session is asked for consent immediately`() async throws {
        try await Site.run { site, clientID in
            var browser = UserAgent()
            let request = ClientAuthorizationRequest(site, clientID)
            _ = try await Account.alice.signIn(request.url, in: &browser)
            let second = try await browser.open(request.url)
            #expect(throws: Never.self) { try second.form(withButton: "allow") }
            #expect(throws: WebPage.Unexpected.self) { try second.form(with: "password") }
        }
    }

    // A sign-in hint with any characters stays one encoded parameter of the request, and the browser gets one
    // argument, which does not contain it.
    @Test func `the browser gets one URL without the parameters`() async throws {
        try await Site.run { site, clientID in
            let device = try Device(in: site.folder)
            let hint = "alice & bob; $(touch x) \"%s\" 'å"
            let login = try device.beginLogin(site, clientID: clientID, "--login-hint", hint, "--par", "never")
            try await login.whileRunning {
                let arguments = try await device.browserArguments()
                #expect(arguments.count == 1)
                let address = try #require(arguments.first)
                #expect(!address.contains("?"))
                let printed = try Self.printedURL(of: login)
                #expect(printed.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"\"<>\\^`{|}".utf8.contains($0) })
                #expect(try Self.parameters(of: printed).single("login_hint") == hint)
                var browser = UserAgent()
                let page = try await browser.open(address)
                #expect(page.body.contains("value=\"alice &amp; bob; $(touch x) &quot;%s&quot; &#39;å\""))
            }
        }
    }

    /// Returns the authorization request that a login prints for a user who opens it by hand.
    private static func printedURL(of login: RunningProgram) throws -> String {
        let line = try #require(login.errors.split(separator: "\n").first { $0.hasPrefix("Open: ") })
        return String(line.dropFirst("Open: ".count))
    }

    private static func parameters(of url: String) throws -> FormParameters {
        let mark = try #require(url.firstIndex(of: "?"))
        return try FormParameters(parsing: String(url[url.index(after: mark)...]))
    }

    /// Returns the header and the claims of a JWT, unverified.
    private static func read(_ token: String) throws -> (header: [String: Any], claims: [String: Any]) {
        let parts = try token.split(separator: ".").prefix(2).map { part in
            let bytes = try #require(Base64URL.decode(String(part)))
            return try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
        }
        try #require(parts.count == 2)
        return (parts[0], parts[1])
    }
}
