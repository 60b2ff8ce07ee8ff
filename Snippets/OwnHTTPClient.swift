// Authorized requests of another HTTP client, a stream of events, and the claims of the user.
import CounterfoilClient
import HTTPTypes

let signIn = try NativeSignIn(issuer: "https://id.example.com", clientID: "lightbox")
let session = TokenSession(for: signIn, store: MemoryTokenStore())

struct Client {
    func send(_ request: HTTPRequest) async throws -> HTTPResponse { HTTPResponse(status: .ok) }
}

let client = Client()

func call() async throws {
    // snippet.show
    var request = HTTPRequest(method: .get, scheme: "https", authority: "photos.example.com", path: "/albums")
    let authorization = try await session.authorize(&request)
    var response = try await client.send(request)
    if try await session.shouldRepeat(authorization, after: response) {
        try await session.authorize(&request)
        response = try await client.send(request)
    }
    // snippet.end
    print(response.status)
}

// snippet.events
let stream = try await session.stream(TransportRequest(api: "https://photos.example.com/changes"))
for try await event in stream.events() { print(event.type, event.data) }
// snippet.end

// snippet.claims
let claims = try await session.credentials().standardClaims
print(claims?.name ?? "", claims?.isEmailVerified == true, claims?.authenticationMethods ?? [])
// snippet.end
