// A sign-in whose requests name the program to the server.
import CounterfoilClient

var signIn = try NativeSignIn(issuer: "https://id.example.com", clientID: "lightbox", scope: "openid photos.read")
// snippet.show
signIn.transport = .standard(userAgent: try UserAgent("Lightbox/2.1"))
// snippet.hide
let credentials = try await signIn.run()
print(credentials.clientID)
