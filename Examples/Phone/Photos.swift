import CounterfoilClient
import Foundation
import SwiftUI

/// An iOS app, which lists the titles of the user's photos.
@main
struct Photos: App {
    var body: some Scene { WindowGroup { PhotoList() } }
}

struct PhotoList: View {
    @State private var titles: [String] = []
    @State private var problem: String?

    var body: some View {
        List {
            if let problem { Text(problem) }
            ForEach(titles, id: \.self) { Text($0) }
            Button("Show My Photos") { Task { await load() } }
        }
    }

    /// Loads the photos; the user signs in first if necessary.
    private func load() async {
        do {
            titles = try await Self.titles()
            problem = nil
        } catch SessionError.signInFailed(.cancelled) {
            problem = nil
        } catch {
            problem = error.localizedDescription
        }
    }

    private static func titles() async throws -> [String] {
        var signIn = try NativeSignIn(
            issuer: "https://id.example.com", clientID: "photos", scope: "openid offline_access photos.read",
            apiOrigins: ["https://photos.example.com"])
        signIn.redirect = try .claimedHTTPS("https://photos-app.example/callback")
            .otherwise(.customScheme("com.example.photos:/callback"))
        let store = try await TokenStoreChoice.defaultStore(for: ApplicationIdentifier("com.example.photos"))
        let session = TokenSession(for: signIn, store: store)
        _ = try await session.signedIn()
        let answer = try await session.get("https://photos.example.com/photos")
        return try answer.decode(Album.self).photos.map(\.title)
    }
}

/// The response of the API.
private struct Album: Decodable {
    struct Photo: Decodable { let title: String }
    let photos: [Photo]
}
