// The sign-in of the README, at the server and the API that its other commands start.
import CounterfoilClient
import Foundation

// snippet.show
let signIn = try NativeSignIn(
    issuer: "http://localhost:8080", clientID: "lightbox", scope: "openid photos.read",
    apiOrigins: ["http://127.0.0.1:8090"])
let credentials = try await signIn.run { if case .opening(let url) = $0 { print("Open: \(url)") } }
let photos = try await ResourceClient(credentials).get("http://127.0.0.1:8090/photos")
// snippet.hide
print(photos.text)
