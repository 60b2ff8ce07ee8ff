import ArgumentParser
import CounterfoilProtocol
import CounterfoilResource
import Testing

@testable import mcp_server

@Suite struct MCPServerCommandTests {
    private static let good = [
        "--issuer": "http://127.0.0.1:8080", "--audience": "http://127.0.0.1:8091/mcp", "--listen": "127.0.0.1:8091",
    ]

    @Test(arguments: [
        ("--issuer", "http://id.example.com", "an issuer must be https; http is allowed only for 127.0.0.1"),
        ("--audience", "urn:notes", "Write it as a URL such as https://notes.example.com/mcp."),
        ("--audience", "https://notes.example/mcp?x=1", "Write it as a URL such as https://notes.example.com/mcp."),
        ("--audience", "https://notes.example/:id", "Write it as a URL such as https://notes.example.com/mcp."),
        ("--listen", "8091", "Write it as HOST:PORT, for example 127.0.0.1:8091."),
        ("--client-id", "api_notes", "Pass --client-id and --client-secret-file together."),
        ("--allow-origin", "http://localhost:6274/", "It must be scheme, host and port only"),
    ])
    func `an invalid argument is refused with advice`(option: String, value: String, words: String) throws {
        var given = Self.good
        given[option] = value
        let error = try #require(throws: (any Error).self) {
            try MCPServerCommand.parse(given.flatMap { [$0.key, $0.value] })
        }
        #expect(MCPServerCommand.message(for: error).contains(words))
    }

    // Clients differ in what they request if `scopes_supported` is missing.
    @Test(arguments: [([], ["notes.read"]), (["--without-scopes"], [])] as [([String], [String])])
    func `the metadata can omit the scopes`(options: [String], scopes: [String]) throws {
        let command = try MCPServerCommand.parse(Self.good.flatMap { [$0.key, $0.value] } + options)
        let metadata = try #require(try command.server().resourceServer.metadata)
        #expect(metadata.scopesSupported.tokens.map(\.rawValue) == scopes)
        #expect(metadata.resource == "http://127.0.0.1:8091/mcp")
    }
}
