import CounterfoilProtocol
import CounterfoilServer
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import TestSupport
import Testing

@testable import counterfoil_server

/// The settings of the page of the owner that signs users in, and the file with its keys.
@Suite(.timeLimit(.minutes(10)))
struct ExternalSignInSettingsTests {
    private static func configuration(_ variables: [String: String]) throws -> ServeConfiguration {
        var environment = ["COUNTERFOIL_ISSUER": "https://id.example.com", "COUNTERFOIL_LISTEN": "127.0.0.1:8080"]
        for (name, value) in variables { environment[Settings.variable(of: name)] = value }
        return try ServeConfiguration([:], SettingSources(naming: nil, environment: environment))
    }

    private static func message(_ variables: [String: String]) -> String? {
        do { _ = try configuration(variables).settingsWithKeys() } catch { return (error as? CommandFailure)?.message }
        return nil
    }

    private static let page = "https://Shop.example.com:443/login?theme=dark"

    @Test func `the settings name the page, its keys and the users`() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path("keys.json")
        let keys = [try SigningKey.generate(.es256).publicKey, try SigningKey.generate(.edDSA).publicKey]
        try Data(JSONWebKeySet(keys: keys).encoded()).write(to: URL(fileURLWithPath: path))
        let configuration = try Self.configuration([
            "external-sign-in": Self.page, "external-sign-in-keys": path, "external-sign-in-users": "known",
            "external-sign-in-name": "Example Shop",
        ])
        let setting = try #require(try configuration.settingsWithKeys().externalSignIn)
        #expect(setting.page.rawValue == Self.page && setting.issuer == "https://shop.example.com")
        #expect(setting.keys.keys == keys && setting.users == .known && setting.label == "Example Shop")
        #expect(configuration.files[.externalSignInKeys] == path)
        #expect(configuration.recorded.externalSignIn == Self.page)
        for url in ["http://localhost:5000/login", "http://127.0.0.1/login", "http://[::1]:5000/"] {
            #expect(
                try Self.configuration(["external-sign-in": url, "external-sign-in-keys": path]).settings
                    .externalSignIn?.page.rawValue == url)
        }
    }

    @Test(arguments: [
        (["external-sign-in": page], "require each other"), (["external-sign-in-keys": "/keys"], "require each other"),
        (["external-sign-in-users": "create"], "EXTERNAL_SIGN_IN_USERS requires"),
        (["external-sign-in-name": "Shop"], "EXTERNAL_SIGN_IN_NAME requires"),
    ])
    func `incomplete settings are refused`(variables: [String: String], words: String) {
        #expect(Self.message(variables)?.contains(words) == true)
    }

    @Test func `a file without a usable key, or with a private one, is refused`() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path("keys.json")
        let settings = ["external-sign-in": Self.page, "external-sign-in-keys": path]
        #expect(Self.message(settings)?.contains("cannot read") == true)
        let secret = #"{"keys":[{"kty":"EC","crv":"P-256","x":"AA","y":"AA","d":"c2VjcmV0LXZhbHVl"}]}"#
        for (text, words) in [
            ("no JSON", "is not a JSON Web Key Set"), (#"{"keys":[]}"#, "contains no key"),
            (#"{"keys":[{"kty":"EC","crv":"P-521","x":"AA","y":"AA"}]}"#, "contains no key"),
            (#"{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}"#, "contains a private or symmetric key"),
            (secret, "contains a private or symmetric key"),
        ] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            let message = try #require(Self.message(settings))
            #expect(message.contains(words) && message.contains(path), "\(message)")
            #expect(!message.contains("c2Vjcm"))
        }
    }
}
