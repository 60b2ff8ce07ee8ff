import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import TestSupport
import Testing

@Suite("The contract: branding")
struct BrandingContractTests {
    @Test(arguments: StoreKind.allCases)
    func `there is no branding at first`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            #expect(try await store.branding() == Branding())
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `branding is read back as it was chosen, and can be reset`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            let logo = Logo.example()
            var branding = Branding(
                siteName: "Ada's 📷 & <b>Söhne</b>",
                accent: AccentColor("#2352C5"),
                supportURI: try AbsoluteURI(parsing: "mailto:help@example.com")
            )
            #expect(try await store.updateBranding(branding, logo: .replace(logo)) == .updated)
            branding.logo = logo.id
            branding.revision = 1
            #expect(try await store.branding() == branding)
            #expect(try await store.logo(logo.id) == logo)
            #expect(try await store.updateBranding(branding, logo: .keep) == .updated)
            #expect(try await store.branding().logo == logo.id)
            #expect(try await store.updateBranding(Branding(revision: 2), logo: .remove) == .updated)
            #expect(try await store.branding() == Branding(revision: 3))
            #expect(try await store.logo(logo.id) == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the texts are stored for each language, and an empty text is none`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            var branding = Branding(statements: [
                .english: SiteStatement(
                    text: "Only **ours**", privacyURI: try AbsoluteURI(parsing: "https://a.example/p")),
                .norwegian: SiteStatement(text: "Bare våre · 爱达"), .french: SiteStatement(),
            ])
            #expect(try await store.updateBranding(branding, logo: .keep) == .updated)
            branding.statements[.french] = nil
            branding.revision = 1
            #expect(try await store.branding() == branding)
            #expect(branding.statement(in: .norwegian).text == "Bare våre · 爱达")
            #expect(branding.statement(in: .norwegian).privacyURI?.rawValue == "https://a.example/p")
            #expect(branding.statement(in: .french).text == "Only **ours**")
            branding.statements[.english] = nil
            #expect(try await store.updateBranding(branding, logo: .keep) == .updated)
            branding.revision = 2
            #expect(try await store.branding() == branding)
            #expect(branding.statement(in: .french).isEmpty)
            #expect(try await store.updateBranding(Branding(revision: 2), logo: .keep) == .updated)
            #expect(try await store.branding() == Branding(revision: 3))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `of a hundred changes of the branding from one revision one is stored`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            let counts = try await outcomes(of: 100) { number in
                try await store.updateBranding(
                    Branding(siteName: "Number \(number)"), logo: .replace(.example(UInt8(number))))
            }
            #expect(counts == [.updated: 1, .changedMeanwhile: 99])
            let branding = try await store.branding()
            #expect(branding.revision == 1)
            var kept: [LogoIdentifier] = []
            for number in 0..<100 {
                if let logo = try await store.logo(Logo.example(UInt8(number)).id) { kept.append(logo.id) }
            }
            #expect(kept == [branding.logo])
        }
    }
}
