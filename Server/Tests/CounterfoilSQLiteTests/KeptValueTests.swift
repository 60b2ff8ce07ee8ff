import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import TestSupport
import Testing

@testable import CounterfoilSQLite

@Suite("SQLite: an update keeps what a newer version has written")
struct KeptValueTests {
    @Test func `members of a profile stay`() async throws {
        try await NewerVersion.run { newer in
            let store = newer.store
            try await newer.write(
                """
                UPDATE people SET profile = '{"nickname":"A","pronouns":["she"],"address":{"region":"X","floor":2}}'
                """)
            var user = try #require(try await store.user(newer.ada.user.id))
            #expect(user.profile.nickname == "A")
            user.profile.nickname = nil
            user.profile.givenName = "Ada"
            user.profile.address?.region = nil
            user.profile.address?.locality = "Oslo"
            #expect(try await store.updateUser(user, at: World.now) == .updated)
            let kept = ["pronouns[0]", "address.floor", "given_name", "address.locality"]
                .map { "json_extract(profile, '$.\($0)')" }.joined(separator: " || ' ' || ")
            #expect(try await newer.text("SELECT \(kept) FROM people WHERE username = 'ada'") == "she 2 Ada Oslo")
            let removed = try await newer.text(
                "SELECT profile LIKE '%nickname%' OR profile LIKE '%region%' FROM people WHERE username = 'ada'")
            #expect(removed == "0")
            #expect(try await store.user(user.id)?.profile == user.profile)
        }
    }

    @Test func `keys of a client with an unknown type stay until the client replaces its keys`() async throws {
        try await NewerVersion.run { newer in
            let store = newer.store
            let key = try SigningKey.generate(.es256).publicKey
            let known = String(decoding: JSONWebKeySet(keys: [key]).encoded(), as: UTF8.self)
            let both = known.replacing("]}", with: #",{"kty":"AKP","alg":"ML-DSA-44","pub":"AA"}]}"#)
            try await newer.write(
                "UPDATE clients SET keys = CAST(? AS BLOB) WHERE id = 'app-lightbox'", [both])
            let stored = "SELECT keys FROM clients WHERE id = 'app-lightbox'"
            var client = try #require(try await store.client(newer.ada.client.id))
            #expect(client.keys == JSONWebKeySet(keys: [key]))
            client.presentation.name = "Changed"
            #expect(try await store.updateClient(client, logo: .keep) == .updated)
            #expect(try await newer.text(stored) == both)
            client = try #require(try await store.client(client.id))
            #expect(client.presentation.name == "Changed")
            client.keys = JSONWebKeySet(keys: [try SigningKey.generate(.es256).publicKey])
            #expect(try await store.updateClient(client, logo: .keep) == .updated)
            #expect(try await newer.text(stored) != both)
            #expect(try await store.client(client.id)?.keys == client.keys)
        }
    }

    @Test func `a remembered API in an unknown form stays when more is allowed`() async throws {
        try await NewerVersion.run { newer in
            let (store, ada) = (newer.store, newer.ada)
            try await newer.write("UPDATE consents SET remembered_at = 'relative photos'")
            #expect(try await ada.consent?.rememberedAt == [:])
            try await ada.approve(ada.grant(Scope([.openID])))
            let stored = try await newer.text(
                "SELECT remembered_at FROM consents WHERE client_id = 'app-lightbox' AND person_id = "
                    + "(SELECT id FROM people WHERE username = 'ada')")
            #expect(stored?.split(separator: "\n").contains("relative photos") == true)
            #expect(try await store.consents(of: ada.user.id).count == 2)
        }
    }

    @Test func `a statement in an unknown language stays, and other branding is not replaced`() async throws {
        try await NewerVersion.run { newer in
            let store = newer.store
            try await newer.write("INSERT INTO site_statements (language, text) VALUES ('en', 'Hello'), ('ja', 'やあ')")
            var branding = try await store.branding()
            #expect(branding.statements == [.english: SiteStatement(text: "Hello")])
            branding.statements = [.german: SiteStatement(text: "Hallo")]
            #expect(try await store.updateBranding(branding, logo: .keep) == .updated)
            let languages = "SELECT group_concat(language) FROM (SELECT language FROM site_statements ORDER BY 1)"
            #expect(try await newer.text(languages) == "de,ja")

            try await newer.write("UPDATE branding SET accent = 'oklch(1)', site_name = 'Example'")
            branding = try await store.branding()
            #expect(branding.siteName == "Example" && branding.accent == nil)
            await newer.expectUnsupported("branding", "accent") {
                _ = try await store.updateBranding(branding, logo: .keep)
            }
            #expect(try await newer.text("SELECT accent FROM branding") == "oklch(1)")
        }
    }

    @Test func `an unknown kind of unregistered clients is not accepted, and the policy is not replaced`() async throws
    {
        try await NewerVersion.run { newer in
            let store = newer.store
            try await newer.write("UPDATE unregistered_client_policy SET kinds = 'documents federation'")
            let policy = try await store.unregisteredClientPolicy()
            #expect(policy.kinds == [.document])
            await newer.expectUnsupported("policy for unregistered clients", "kinds") {
                _ = try await store.updateUnregisteredClientPolicy(policy)
            }
            #expect(try await newer.text("SELECT kinds FROM unregistered_client_policy") == "documents federation")
        }
    }

    @Test func `a refresh token of a client with an unknown value is kept as long as its policy says`() async throws {
        try await NewerVersion.run { newer in
            let (store, day) = (newer.store, TimeInterval(86_400))
            try await newer.write(
                "UPDATE clients SET type = 'agent', refresh_idle_lifetime = 864000 WHERE id = 'app-lightbox'")
            try await newer.write("UPDATE refresh_tokens SET expires_at = expires_at + 86400000000 * 400")
            func sweep(at now: Date) async throws {
                _ = try await store.deleteExpired(
                    ExpirationLimits(
                        now: now, codesBefore: .distantPast, sessionsIdleBefore: .distantPast,
                        refreshIdleBefore: now - day, grantsBefore: .distantPast), atMost: 10)
            }
            try await sweep(at: World.now + 9 * day)
            #expect(try await newer.text("SELECT count(*) FROM refresh_tokens") == "1")
            try await sweep(at: World.now + 11 * day)
            #expect(try await newer.text("SELECT count(*) FROM refresh_tokens") == "0")
        }
    }
}
