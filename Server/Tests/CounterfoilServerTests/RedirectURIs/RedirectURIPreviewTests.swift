import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import Testing

/// The preview of a redirect URI before it is saved.
struct RedirectURIPreviewTests {
    private static func examples(
        of text: String, among others: [String] = [], type: ClientType = .native,
        issuer: String = "https://id.example.com", allowsDevelopment: Bool = true
    ) throws -> [String: Bool] {
        let client = RegisteredClient(
            id: try #require(ClientIdentifier("app_darkroom")), type: type,
            presentation: ClientPresentation(name: "Darkroom"),
            redirectURIs: try ([text] + others).map { try RedirectURI($0) }, scope: Scope([]), policy: ClientPolicy(),
            createdAt: .distantPast)
        let examples = RedirectURIPreview.examples(
            for: try RedirectURI(text), of: client, issuer: try Issuer(issuer), allowsDevelopment: allowsDevelopment)
        for example in examples {
            let why = Localizer.english(example.why)
            #expect(!why.isEmpty && !why.hasPrefix("redirect-uri."), "\(why)")
        }
        return try Dictionary(
            examples.map { ($0.uri, $0.matches) },
            uniquingKeysWith: { _, _ in throw Repeated() })
    }

    private struct Repeated: Error {}

    @Test func `of a loopback URI only the port is free`() throws {
        #expect(
            try Self.examples(of: "http://127.0.0.1/cb") == [
                "http://127.0.0.1/cb": true, "http://127.0.0.1:51004/cb": true, "http://localhost/cb": false,
                "https://127.0.0.1/cb": false, "http://127.0.0.1/cb/": false, "http://127.0.0.1/cb/other": false,
                "http://127.0.0.1/CB": false, "http://127.0.0.1/cb?added=1": false,
            ])
        #expect(try Self.examples(of: "http://localhost:51004/")["http://localhost:51005/"] == true)
        #expect(try Self.examples(of: "http://localhost:51004/")["http://localhost/"] == true)
        #expect(try Self.examples(of: "http://localhost:51004/")["http://127.0.0.1:51004/"] == false)
    }

    @Test(arguments: [ClientType.web, .singlePage])
    func `the port of a development redirect URI is free only if none is registered`(type: ClientType) throws {
        #expect(
            try Self.examples(of: "http://localhost:5173/cb", type: type) == [
                "http://localhost:5173/cb": true, "http://localhost:51004/cb": false, "http://localhost/cb": false,
                "http://127.0.0.1:5173/cb": false, "https://localhost:5173/cb": false,
                "http://localhost:5173/cb/": false, "http://localhost:5173/cb/other": false,
                "http://localhost:5173/CB": false, "http://localhost:5173/cb?added=1": false,
            ])
        #expect(try Self.examples(of: "http://localhost/cb", type: type)["http://localhost:51004/cb"] == true)
        let off = try Self.examples(of: "http://localhost/cb", type: type, allowsDevelopment: false)
        #expect(off.values.allSatisfy { !$0 })
    }

    @Test func `an https URI must match completely`() throws {
        #expect(
            try Self.examples(of: "https://app.example/cb?a=1") == [
                "https://app.example/cb?a=1": true, "https://app.example:443/cb?a=1": false,
                "https://app.example:8443/cb?a=1": false, "https://www.app.example/cb?a=1": false,
                "https://APP.EXAMPLE/cb?a=1": false, "http://app.example/cb?a=1": false,
                "https://app.example/cb/?a=1": false, "https://app.example/cb/other?a=1": false,
                "https://app.example/CB?a=1": false, "https://app.example/cb?a=1&added=1": false,
                "https://app.example/cb": false,
            ])
    }

    @Test func `a private-use scheme URI must match completely`() throws {
        #expect(
            try Self.examples(of: "com.example.app:/cb") == [
                "com.example.app:/cb": true, "com.example.app://cb": false, "com.example.app:/cb/": false,
                "com.example.app:/cb/other": false, "com.example.app:/CB": false, "com.example.app:/cb?added=1": false,
            ])
    }

    // The preview also shows matches with other registered URIs and with the server itself.
    @Test func `the preview includes the other URIs of the client and the server`() throws {
        let both = try Self.examples(of: "http://127.0.0.1/cb", among: ["http://localhost/cb"])
        #expect(both["http://localhost/cb"] == true)
        let own = try Self.examples(of: "http://127.0.0.1/cb", issuer: "http://localhost:51004")
        #expect(own["http://127.0.0.1:51004/cb"] == false)
    }
}
