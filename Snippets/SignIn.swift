// A sign-in for a single request, without stored credentials or a refresh token. StaySignedIn.swift has both.
import CounterfoilClient

// snippet.show
let signIn = try NativeSignIn(
    issuer: "https://id.example.com", clientID: "lightbox", scope: "openid photos.read",
    apiOrigins: ["https://photos.example.com"])
let credentials = try await signIn.run { if case .opening(let url) = $0 { print("Open: \(url)") } }
let photos = try await ResourceClient(credentials).get("https://photos.example.com/photos")
// snippet.hide
print(photos.statusCode)
