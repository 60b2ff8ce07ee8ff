import ArgumentParser
import CounterfoilClient
import CounterfoilProtocol
import HTTPTypes

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// `counterfoil call` sends a request with the access token to an API.
struct Call: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "call",
        abstract: "Call an API with the access token and print its response.",
        discussion: """
            The token is sent only to https URLs and to this device, and along a redirect only within the origin of \
            the URL. It is refreshed if necessary. If the status is 400 or more, the body is printed too, and the exit \
            code is 7, or 3 if you have to sign in again, or 6 for a temporary failure. If the API rejects the token, the \
            command says what differs from what the API accepts. With --step-up, the browser opens if the API requires \
            more permissions, or a stronger or newer sign-in.

            Examples:
              counterfoil call https://photos.example.com/photos
              counterfoil call --data @photo.json https://photos.example.com/photos

            \(ExitStatus.help)
            """
    )

    @Argument(help: "The URL of the API.")
    var url: String

    @Flag(help: "Print the status and the header fields before the body.")
    var include = false

    @Option(help: ArgumentHelp("The HTTP method. (default: GET, or POST with --data)", valueName: "method"))
    var method: String?

    @Option(help: ArgumentHelp("The body: @FILE, @- for standard input, or the text itself.", valueName: "data"))
    var data: String?

    @Option(help: ArgumentHelp("A header field to add. Can be repeated.", valueName: "name: value"))
    var header: [String] = []

    @Flag(name: .customLong("step-up"), help: "Sign in again if the API requires more.")
    var stepsUp = false

    @Option(
        name: .customLong("redirect-uri"),
        help: ArgumentHelp("With --step-up, the registered redirect URI.", valueName: "uri"))
    var redirectURI: String?

    @OptionGroup var common: CommonOptions

    func run() async throws {
        let console = common.console
        try await console.run {
            let request = try TransportRequest(
                api: url, method: try httpMethod(), headerFields: try headerFields(), body: try body())
            let redirect = try redirectOption()
            let session = try await common.session()
            let response =
                if stepsUp {
                    try await session.send(request) { signIn in
                        try await Self.run(signIn, redirect: redirect, console)
                    }
                } else {
                    try await session.send(request)
                }
            await common.warnIfNotSaved(session)
            if include {
                try console.result("HTTP \(response.head.status)")
                for field in response.head.headerFields { try console.result("\(field.name): \(field.value)") }
                try console.result("")
            }
            try console.result(bytes: response.body)
            if response.statusCode == 401, StepUp(demandedBy: response) == nil {
                let credentials = try await session.credentials()
                let command = LoginCommand(
                    repeating: credentials, profile: common.profile, rememberedIn: .ofThisUser())
                throw await TokenRejection(of: credentials, by: response, at: request.endpoint, command: command)
                    .failure
            }
            if let failure = Self.failure(of: response) { throw failure }
        }
    }

    private func redirectOption() throws(Failure) -> RedirectOption? {
        guard let redirectURI else { return nil }
        do { return try .registered(redirectURI) } catch { throw Failure(.usage, "\(error)") }
    }

    /// Runs the step-up sign-in: the API requires a wider scope, or a stronger or newer sign-in (RFC 9470).
    private static func run(
        _ prepared: NativeSignIn, redirect: RedirectOption?, _ console: CommandOutput
    ) async throws -> Credentials {
        var signIn = prepared
        if let redirect { signIn.redirect = redirect }
        console.say("The API requires more than this sign-in grants. Requesting the scope: \(prepared.scope).")
        let progress = SignInProgress(console: console)
        let ready = signIn
        return try await runUntilInterrupted { try await ready.run { progress.tell($0) } }
    }

    private func httpMethod() throws(Failure) -> HTTPRequest.Method {
        guard let method = HTTPRequest.Method(method ?? (data == nil ? "GET" : "POST")) else {
            throw Failure(.usage, "'\(method ?? "")' is not an HTTP method; write it as in --method PUT")
        }
        return method
    }

    private func headerFields() throws(Failure) -> HTTPFields {
        var fields = HTTPFields()
        for text in header {
            let halves = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard halves.count == 2, let name = HTTPField.Name(String(halves[0])) else {
                throw Failure(.usage, "--header must have the form 'name: value'")
            }
            let value = halves[1].trimmingWhitespace()
            guard HTTPField.isValidValue(value) else {
                throw Failure(.usage, "the value of the header field \(name) contains invalid characters")
            }
            fields.append(HTTPField(name: name, value: value))
        }
        return fields
    }

    private func body() throws(Failure) -> [UInt8] {
        guard let data else { return [] }
        guard data.hasPrefix("@") else { return Array(data.utf8) }
        let path = String(data.dropFirst())
        if path == "-" { return systemReadAll(STDIN_FILENO) }
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw Failure(.usage, "cannot read the file \(path); check its path and permissions")
        }
        return Array(bytes)
    }

    private static func failure(of response: TransportResponse) -> Failure? {
        if let demand = StepUp(demandedBy: response) {
            let wish =
                demand.scope.isEmpty ? "a stronger or newer sign-in" : "more permissions: \(demand.scope)"
            return Failure(
                .signInRequired,
                "the API requires \(wish) (status \(response.statusCode)); add --step-up, or run counterfoil login again"
            )
        }
        return switch response.statusCode {
        case 403: Failure(.refused, "the API denied access (status 403); check the permissions of the user")
        case 408, 429, 500..<600:
            Failure(.unavailable, "the API failed or is overloaded (status \(response.statusCode)); try again later")
        case 400..<500:
            Failure(.refused, "the API rejected the request (status \(response.statusCode)); see its response")
        case 300..<400 where response.statusCode != 304:
            Failure(
                .unsafe,
                "the API responded with a redirect to \(response.head.headerFields[.location] ?? "an unknown URL"), which is not "
                    + "followed because the token could reach another host; call that URL if you trust it")
        default: nil
        }
    }
}
