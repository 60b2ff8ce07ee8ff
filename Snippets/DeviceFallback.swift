// A sign-in in the browser, or on another device where no browser can be opened.
import CounterfoilClient

// snippet.show
let signIn = try NativeSignIn(
    issuer: "https://id.example.com", clientID: "lightbox", scope: "openid photos.read",
    apiOrigins: ["https://photos.example.com"])
let credentials = try await signIn.runWithDeviceFallback { instructions in
    print("Open \(instructions.verificationURI) on another device and enter \(instructions.userCode).")
}
// snippet.hide
print(credentials.scope)

func onAnotherDevice() async throws -> Credentials {
    // snippet.show
    let signIn = try DeviceSignIn(
        issuer: "https://id.example.com", clientID: "lightbox", scope: "openid photos.read",
        apiOrigins: ["https://photos.example.com"])
    return try await signIn.run { print("Open \($0.verificationURI) and enter \($0.userCode).") }
    // snippet.hide
}
