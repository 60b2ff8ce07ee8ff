import ArgumentParser
import CounterfoilProtocol
import CounterfoilResource
import Testing

@testable import photo_library

@Suite struct ServeTests {
    @Test(arguments: [
        (["--issuer", "http://id.example.com"], "an issuer must be https; http is allowed only for 127.0.0.1"),
        (["--issuer", "nonsense"], "an issuer must be a URL such as https://id.example.com"),
        (["--audience", "photos"], "it is not absolute: it has no scheme such as https:"),
        (["--audience", "https://photos.example#x"], "It must not have a fragment (#…)."),
        (["--listen", "8090"], "Write it as HOST:PORT, for example 127.0.0.1:8090."),
        (["--listen", "::1:8090"], "Write an IPv6 address in brackets, for example [::1]:8090."),
        (["--client-id", "api_photos"], "Pass --client-id and --client-secret-file together."),
        (["--client-secret-file", "/nowhere"], "The file cannot be read"),
        (["--introspection-lifetime", "5"], "--introspection-lifetime requires --client-id"),
        (["--allow-origin", "http://localhost:5173/"], "It must be scheme, host and port only"),
        (["--public-url", "urn:photos"], "Write it as a URL such as https://photos.example.com/api."),
        (["--public-url", "photos"], "it is not absolute: it has no scheme such as https:"),
        (["--listen", "127.0.0.1:70000"], "Write it as HOST:PORT, for example 127.0.0.1:8090."),
    ])
    func `an invalid argument is refused with advice`(arguments: [String], words: String) throws {
        var given = [
            "--issuer": "http://127.0.0.1:8080", "--audience": "https://photos.example", "--listen": "[::1]:0",
        ]
        _ = try Serve.parse(given.flatMap { [$0.key, $0.value] })
        given[arguments[0]] = arguments[1]
        let error = try #require(throws: (any Error).self) { try Serve.parse(given.flatMap { [$0.key, $0.value] }) }
        #expect(Serve.message(for: error).contains(words))
    }

    @Test(arguments: [([String](), "photos.read"), (["--read-scope", "pictures.view"], "pictures.view")])
    func `the metadata names the scope that reads photos`(options: [String], scope: String) throws {
        let serve = try Serve.parse(
            ["--issuer", "http://127.0.0.1:8080", "--audience", "https://photos.example", "--listen", "[::1]:0"]
                + options)
        #expect(try serve.description?.scopes == Scope(parsing: scope))
    }
}
