import CounterfoilClient
import Foundation
import SwiftUI

/// A macOS menu bar app, which lists the titles of the user's photos.
@main
struct PhotoBar: App {
    @StateObject private var account = Account()

    var body: some Scene {
        MenuBarExtra("Photos", systemImage: "photo") {
            if let problem = account.problem { Text(problem) }
            ForEach(account.titles, id: \.self) { Text($0) }
            Button("Show My Photos") { Task { await account.load() } }
            if account.isSignedIn { Button("Sign Out") { Task { await account.signOut() } } }
        }
    }
}

/// The signed-in user and what the menu shows.
@MainActor
final class Account: ObservableObject {
    @Published private(set) var titles: [String] = []
    @Published private(set) var problem: String?
    @Published private(set) var isSignedIn = false
    private var session: TokenSession?

    private static func signIn() throws -> NativeSignIn {
        var signIn = try NativeSignIn(
            issuer: "https://id.example.com", clientID: "photobar", scope: "openid offline_access photos.read",
            apiOrigins: ["https://photos.example.com"])
        signIn.redirect = try .claimedHTTPS("https://photobar.example/callback")
            .otherwise(.customScheme("com.example.photobar:/callback"))
        return signIn
    }

    /// Loads the photos; the user signs in first if necessary.
    func load() async {
        do {
            let signIn = try Self.signIn()
            let store = try await TokenStoreChoice.defaultStore(for: ApplicationIdentifier("com.example.photobar"))
            let session = session ?? TokenSession(for: signIn, store: store)
            self.session = session
            _ = try await session.signedIn()
            isSignedIn = true
            let answer = try await session.get("https://photos.example.com/photos")
            titles = try answer.decode(Album.self).photos.map(\.title)
            problem = nil
        } catch SessionError.signInFailed(.cancelled) {
            problem = nil
        } catch {
            problem = error.localizedDescription
        }
    }

    /// Deletes the tokens of this device and revokes them at the server.
    func signOut() async {
        do { try await session?.signOut() } catch { problem = error.localizedDescription }
        (isSignedIn, titles) = (false, [])
    }
}

/// The response of the API.
private struct Album: Decodable {
    struct Photo: Decodable { let title: String }
    let photos: [Photo]
}
