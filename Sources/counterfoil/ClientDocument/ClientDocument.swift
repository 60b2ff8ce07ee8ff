import ArgumentParser
import CounterfoilClient
import CounterfoilProtocol
import HTTPTypes

/// `counterfoil client-document` prints the metadata document of a client, or checks the one at a URL.
struct ClientDocument: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "client-document",
        abstract: "Print the metadata document of a client, or check a published one.",
        discussion: """
            Servers that accept client metadata documents need no registration: the URL of the document is the client ID, \
            and every installation of the client uses it (login --client-metadata). Serve the document at exactly that URL, without a redirect, as \
            application/json. The document is for a client without a secret.

            With --check, the document at the URL is fetched and judged by the same rules. The exit code is 0 if servers \
            can use it, and otherwise that of the first fault.

            Examples:
              counterfoil client-document https://app.example/client.json --name Lightbox
              counterfoil client-document https://app.example/client.json --check

            \(ExitStatus.help)
            """
    )

    @Argument(help: "The URL at which the document is served, which is also the client ID.")
    var url: String

    @Flag(help: "Fetch the document and check it, instead of printing one.")
    var check = false

    @Option(help: ArgumentHelp("The name that users see on the consent page.", valueName: "name"))
    var name: String?

    @Option(
        help: ArgumentHelp(
            "A redirect URI of the client: on loopback without a port, with a private-use scheme, or https. Can be "
                + "repeated. (default: \(LoopbackRedirectURI.standard))",
            valueName: "uri"))
    var redirectURI: [String] = []

    @Option(help: ArgumentHelp("The URL of a page about the client.", valueName: "url"))
    var clientURI: String?

    @Option(help: ArgumentHelp("The URL of the logo of the client.", valueName: "url"))
    var logoURI: String?

    @Option(help: ArgumentHelp("The scope that the client may request. Can be repeated.", valueName: "scope"))
    var scope: [String] = []

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if check, name != nil || !redirectURI.isEmpty || clientURI != nil || logoURI != nil || !scope.isEmpty {
            throw ValidationError("--check reads the document at the URL; omit the options for its contents.")
        }
        guard check || name?.isEmpty == false else {
            throw ValidationError("Name the client with --name; users see the name when they are asked for consent.")
        }
    }

    func run() async throws {
        let console = output.console
        try await console.run {
            let document = try Failure.usage { try ClientMetadataDocument(url) }
            guard check else { return try write(document, to: console) }
            let beginning = Examination(of: .init(scope: Scope()), over: .standard, timeout: .seconds(10))
            let findings = try await runUntilInterrupted {
                var examination = beginning
                await examination.clientDocument(document)
                return examination.findings
            }
            try FindingReport(findings: findings).write(to: console)
        }
    }

    private func write(_ document: ClientMetadataDocument, to console: CommandOutput) throws {
        let wanted = try Failure.usage { try Scope(lenient: scope.joined(separator: " ")) }
        let contents = ClientDocumentContents(
            of: document, name: name ?? "",
            redirectURIs: redirectURI.isEmpty ? ["\(LoopbackRedirectURI.standard)"] : redirectURI,
            clientURI: clientURI, logoURI: logoURI, scope: wanted)
        let findings = ClientDocumentRules(document).findings(in: try contents.json())
        if let fault = findings.first(where: { $0.weight == .fault }) {
            throw Failure(.usage, fault.text + (fault.mend.map { "; \($0)" } ?? ""))
        }
        for note in findings where note.weight == .advice { for line in note.lines { console.say(line) } }
        try console.result(contents)
    }
}

extension Examination {
    /// Fetches a client metadata document as a server does, and checks it.
    ///
    /// OAuth Client ID Metadata Document §4: the status must be 200, and redirects are not followed.
    mutating func clientDocument(_ document: ClientMetadataDocument) async {
        guard let endpoint = try? EndpointURL(document.description),
            let response = await ask(endpoint, as: "client metadata document")
        else { return }
        guard response.statusCode == 200 else {
            return fault(
                "document-missing", "\(document) has the status \(response.statusCode)",
                why: "servers accept only the status 200, and follow no redirect",
                mend: "serve the document at exactly this URL, to everyone")
        }
        let isJSON = response.mediaType == "application/json"
        if !isJSON, !(response.mediaType.hasPrefix("application/") && response.mediaType.hasSuffix("+json")) {
            fault(
                "document-type",
                "the document has the media type \(response.mediaType.isEmpty ? "none" : Self.shown(response.mediaType))",
                mend: "serve it as application/json")
        }
        for finding in ClientDocumentRules(document).findings(in: response.body) { record(finding) }
    }
}
