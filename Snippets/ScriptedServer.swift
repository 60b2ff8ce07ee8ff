// A client tested against a server that drops the response to the first refresh.
import CounterfoilClient
import CounterfoilClientTesting
import CounterfoilProtocol
import HTTPTypes

// snippet.show
/// A browser without a user: it opens the URL and follows the redirect to the client.
struct HeadlessBrowser: BrowserLauncher {
    func open(_ url: BrowserURL) async -> BrowserLaunch {
        let transport: any HTTPTransport = .standard
        do {
            let answer = try await transport.send(TransportRequest(EndpointURL(url.rawValue)))
            guard let location = answer.head.headerFields[.location] else { return .failed("no redirect was received") }
            _ = try await transport.send(TransportRequest(EndpointURL(location)))
            return .launched
        } catch {
            return .failed("\(error)")
        }
    }
}

var script = ServerScript(.rotatesAndDropsTheReply, .lowerCaseBearer)
script.interruptions.append(Interruption(at: .userInfo, times: 2, .trouble(503, retryAfter: "1")))

try await ScriptedAuthorizationServer.run(script) { server in
    var signIn = try NativeSignIn(issuer: server.issuer.rawValue, clientID: "lightbox", scope: "openid photos.read")
    signIn.browser = HeadlessBrowser()
    let session = TokenSession(for: signIn, store: MemoryTokenStore())
    try await session.signedIn()

    server.expireAccessTokens()
    let first = try await session.get(server.url(of: .api))
    let second = try await session.get(server.url(of: .api))
    print(first.statusCode, second.statusCode)
    for request in server.requests(to: .token) { print(request.form["grant_type"] ?? "") }
}
