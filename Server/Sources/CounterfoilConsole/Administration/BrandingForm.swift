import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes

/// The confirmation that the branding page shows after the branding was saved.
enum BrandingNotice: String, LocalizationKey, Notice {
    case saved = "branding.notice.branded"
}

/// `/admin/branding`: the form for the name, logo, color, support URL and statements of the service.
struct BrandingForm: Sendable {
    let console: Console
    let encoder: LogoEncoder

    func show(_ exchange: Console.Exchange) async throws -> Reply {
        let branding = try await console.registry.atArrival().branding()
        return page(exchange, BrandingDraft(branding), of: branding)
    }

    func change(_ exchange: Console.Exchange) async throws -> Reply {
        let branding = try await console.registry.atArrival().branding()
        let form = try PageForm(uploading: exchange.request, issuer: console.settings.issuer)
        let (_, delay) = try await console.check(form, of: exchange)
        var draft = try BrandingDraft(form)
        var typed = draft
        var logo = LogoChange.keep
        var problems: [BrandingDraft.FieldProblem] = []
        let decision = try form.value("decision")
        switch decision {
        case "standard":
            try console.requireRecentSignIn(exchange)
            typed = BrandingDraft(branding)
            draft = BrandingDraft()
            // The reset applies to the name, logo, color and support URL, but not to the statements of the service.
            draft.statements = typed.statements
            logo = .remove
        case "preview", "save":
            if try form.value("remove_logo") == "on" { logo = .remove }
            do {
                if let chosen = try await chosenLogo(form, keepsEarlier: logo == .keep) { logo = .replace(chosen) }
            } catch let refusal as LogoRefusal {
                problems.append(BrandingDraft.FieldProblem(.logo, refusal))
            }
        default:
            throw PageProblem.noDecision
        }
        let typedLogo: LogoChange = decision == "standard" ? .keep : logo
        if decision == "preview" {
            let (previewed, mistakes) = draft.checked(revision: branding.revision, formats: console.formats)
            problems += mistakes
            guard problems.isEmpty else {
                return page(exchange, draft, of: branding, logo: typedLogo, problems: problems)
            }
            return preview(exchange, draft, of: branding, logo: logo, as: previewed)
        }
        if Int(try form.value("revision")) != branding.revision {
            problems.append(BrandingDraft.FieldProblem(nil, .changedMeanwhile))
        } else if let delay {
            problems.append(BrandingDraft.FieldProblem(nil, delay))
        }
        let (changed, mistakes) = draft.checked(revision: branding.revision, formats: console.formats)
        problems += mistakes
        guard problems.isEmpty else {
            return page(exchange, typed, of: branding, logo: typedLogo, problems: problems)
        }
        let event = console.event(.setting, by: exchange, detail: changed.difference(from: branding))
        switch try await console.store.updateBranding(changed, logo: logo, recording: [event]) {
        case .updated:
            console.auditor.countRecorded(event)
            return .done(BrandingNotice.saved, at: console.path(.branding))
        case .changedMeanwhile:
            let problem = BrandingDraft.FieldProblem(nil, .changedMeanwhile)
            return page(exchange, typed, of: branding, logo: typedLogo, problems: [problem])
        }
    }

    /// Returns the uploaded logo, or else the one that was uploaded for a preview; nil if the form contains neither.
    ///
    /// The server keeps no upload between two requests, so a preview contains the logo in a hidden field. It is encoded
    /// again like an upload. If `keepsEarlier` is false, only an upload counts.
    private func chosenLogo(_ form: PageForm, keepsEarlier: Bool) async throws -> Logo? {
        if let upload = try form.file(BrandingDraft.Field.logo.name), !upload.isEmpty {
            return try await encoder.logo(from: upload)
        }
        let kept = try form.value(BrandingPage.chosenLogoField)
        guard keepsEarlier, !kept.isEmpty else { return nil }
        return try await encoder.logo(from: Base64URL.decode(kept) ?? [])
    }

    /// Shows the form with the typed branding, without saving it.
    private func preview(
        _ exchange: Console.Exchange, _ draft: BrandingDraft, of branding: Branding, logo: LogoChange,
        as previewed: Branding
    ) -> Reply {
        var shown = previewed
        shown.logo = logo == .keep ? branding.logo : nil
        var reply = page(exchange, draft, of: branding, logo: logo, preview: shown)
        let language = exchange.request.language
        var site = Site(shown, settings: console.settings, language: language)
        if case .replace(let chosen) = logo { site.logo = chosen.dataURL }
        reply.frame = Frame(site: site, language: language)
        return reply
    }

    private func page(
        _ exchange: Console.Exchange, _ draft: BrandingDraft, of branding: Branding, logo: LogoChange = .keep,
        problems: [BrandingDraft.FieldProblem] = [], preview: Branding? = nil
    ) -> Reply {
        func field(_ field: BrandingDraft.Field, _ value: String = "") -> FormField {
            let said = problems.first { $0.field == field }.map { exchange.words($0.text) }
            return FormField(field.name, value, problem: said)
        }
        let action = console.path(.branding)
        let page = BrandingPage(
            console: console.head(exchange, in: .administration),
            notice: exchange.notice(BrandingNotice.self),
            problems: problems.map { FormProblem(exchange.words($0.text), field: $0.field?.name) },
            siteName: field(.siteName, draft.siteName),
            standardName: console.settings.siteName,
            accent: field(.accent, draft.accent),
            supportURI: field(.supportURI, draft.supportURI),
            statements: Language.allCases.map { language in
                BrandingPage.Statement(
                    language: language,
                    text: field(.text(language), draft.statements[language]?.text ?? ""),
                    privacyURI: field(.privacyURI(language), draft.statements[language]?.privacyURI ?? ""),
                    shown: preview?.statements[language]?.text.flatMap {
                        try? ConsentText(markdown: $0, formats: console.formats).html
                    })
            },
            logo: field(.logo),
            hasLogo: branding.logo != nil || logo.replacement != nil,
            removesLogo: logo == .remove,
            chosenLogo: logo.replacement.map { Base64URL.encode($0.bytes) },
            isPreview: preview != nil,
            paths: AdministrationPaths(console, exchange, at: .branding),
            action: action,
            ticket: console.ticket(exchange, for: action),
            revision: branding.revision
        )
        return Reply(problems.isEmpty ? .ok : .badRequest, .page(page))
    }
}

extension BrandingDraft {
    fileprivate init(_ form: PageForm) throws {
        self.init()
        siteName = try form.value(Field.siteName.name).trimmingCharacters(in: .whitespacesAndNewlines)
        accent = try form.value("own_colour") == "on" ? try form.value(Field.accent.name) : ""
        supportURI = try form.value(Field.supportURI.name).trimmingCharacters(in: .whitespaces)
        for language in Language.allCases {
            statements[language] = Statement(
                text: try form.value(Field.text(language).name),
                privacyURI: try form.value(Field.privacyURI(language).name))
        }
    }
}

extension LogoChange {
    /// The new logo; nil unless there is one.
    fileprivate var replacement: Logo? { if case .replace(let logo) = self { logo } else { nil } }
}

extension Logo {
    /// The image as a URL of the scheme `data` (RFC 2397).
    fileprivate var dataURL: String { "data:\(format.rawValue);base64,\(Data(bytes).base64EncodedString())" }
}
