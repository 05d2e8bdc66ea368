#!/usr/bin/env bash
# Imports public companies from a data folder outside the repository, twice, and looks up some.
# Needs: Rust, the folder (with demo/companies.jsonl.gz: 24,191 companies in the native format).
#
#   bash scripts/real-data.sh ../shared/data
set -euo pipefail

companies=$(realpath "${1:?the data folder}")/demo/companies.jsonl.gz
cd "$(dirname "$0")/.."
cargo build --release --bin enrich
enrich=$PWD/target/release/enrich
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export ENRICH_DATA=$folder/data

failures=0
# expect WHAT WANTED GOT: GOT must contain WANTED.
expect() {
    if [[ $3 == *"$2"* ]]; then
        printf 'ok    %s\n' "$1"
    else
        printf 'FAILS %s: wanted %s, got %s\n' "$1" "$2" "$3"
        failures=$((failures + 1))
    fi
}

first=$("$enrich" import "$companies" --json)
printf '      first import:  %s\n' "$first"
expect "24,191 records are read" '"read":24191' "$first"
second=$("$enrich" import "$companies" --json)
printf '      second import: %s\n' "$second"
expect "the second import adds nothing" '"added":0,"merged":0' "$second"

for name in "Telefónica" "TELEFONICA S.A." "telefonica"; do
    expect "cuf finds $name" '"url":"telefonica.com"' "$("$enrich" lookup /v1/cuf "companyName=$name")"
done
expect "Nestlé in CH is nestle.ch" '"domain":"nestle.ch"' \
    "$("$enrich" lookup /v2/services/name_to_domain company_name=Nestlé country_code=CH)"
expect "Nestlé alone can't be told apart" '"confidence_level":0' \
    "$("$enrich" lookup /v1/cuf companyName=Nestlé)"

# pages PATH FIELD DOMAIN URL…: every spelling of the page must find the domain.
pages() {
    local path=$1 field=$2 domain=$3 url
    shift 3
    for url in "$@"; do
        expect "$path $url" "$domain" "$("$enrich" lookup "$path" "$field=$url" || true)"
    done
}
pages /v1/ltd companyLinkedin '"domain":"vivo.com.br"' \
    vivo-telefonicabr @vivo-telefonicabr linkedin.com/company/vivo-telefonicabr \
    https://www.linkedin.com/company/vivo-telefonicabr/ \
    https://br.linkedin.com/company/Vivo-TelefonicaBR/about/ \
    'http://m.linkedin.com/company/vivo-telefonicabr?trk=x#top'
pages /v1/ftd facebookURL '"companyDomain":"telefonica.com"' \
    telefonica @telefonica facebook.com/telefonica https://www.facebook.com/telefonica/ \
    https://m.facebook.com/Telefonica/posts 'http://es-es.facebook.com/telefonica?ref=x' fb.com/telefonica
pages /v1/ttd twitterURL '"companyDomain":"vivo.com.br"' \
    vivobr @VivoBR twitter.com/vivobr https://x.com/vivobr https://mobile.twitter.com/vivobr/status/1 \
    'https://www.twitter.com/VIVOBR?lang=pt'
pages /v1/itd instagramURL '"companyDomain":"telefonica.com"' \
    telefonica @telefonica instagram.com/telefonica https://www.instagram.com/telefonica/ \
    'https://instagram.com/Telefonica?hl=es' https://m.instagram.com/telefonica/reels/
pages /v1/ytd youtubeURL '"companyDomain":"telefonica.com"' \
    UC7LZo_P6m0W7SDDA8h3CLvg youtube.com/channel/UC7LZo_P6m0W7SDDA8h3CLvg \
    https://www.youtube.com/channel/UC7LZo_P6m0W7SDDA8h3CLvg \
    https://m.youtube.com/channel/UC7LZo_P6m0W7SDDA8h3CLvg/videos \
    'http://youtube.com/channel/UC7LZo_P6m0W7SDDA8h3CLvg?view=0' \
    'https://WWW.YouTube.com/channel/UC7LZo_P6m0W7SDDA8h3CLvg#about'

"$enrich" check
printf '\n%d failed\n' "$failures"
[[ $failures == 0 ]]
