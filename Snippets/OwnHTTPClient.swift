// Authorized requests of another HTTP client, responses, a stream of events, an upload, and the claims of the user.
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

// snippet.decode
struct Album: Decodable { let title: String }
let albums = try await session.get("https://photos.example.com/albums").decode([Album].self)
// snippet.end
print(albums.map(\.title))

// snippet.upload
let upload = try TransportRequest(
    api: "https://photos.example.com/photos", method: .post, headerFields: [.contentType: "image/jpeg"],
    body: RequestBody(file: "photo.jpg"))
try await session.send(upload).successful()
// snippet.end

// snippet.events
let stream = try await session.stream(TransportRequest(api: "https://photos.example.com/changes"))
for try await event in stream.events() { print(event.type, event.data) }
// snippet.end

// snippet.claims
let claims = try await session.credentials().standardClaims
print(claims?.name ?? "", claims?.isEmailVerified == true, claims?.authenticationMethods ?? [])
// snippet.end
