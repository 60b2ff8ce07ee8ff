// A program that signs in at each start, and gets one resource of an API.
// snippet.show
import CounterfoilClient

let signIn = try NativeSignIn(
    issuer: "https://id.example.com", clientID: "lightbox", scope: "openid photos.read",
    apiOrigins: ["https://photos.example.com"])
let credentials = try await signIn.run { if case .opening(let url) = $0 { print("Open: \(url)") } }
print(try await ResourceClient(credentials).get("https://photos.example.com/photos").statusCode)
